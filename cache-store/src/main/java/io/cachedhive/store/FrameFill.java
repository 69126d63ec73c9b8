package io.cachedhive.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.RamTier;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * Fills a frame and publishes it when it is complete.
 */
final class FrameFill
        implements Fill
{
    private final Tiers tiers;
    private final ReentrantLock lock;
    private final RamTier ram;
    private final BlockClasses classes;
    private final SsdOffers offers;
    private final RamHits hits;
    private final Digest128 digest;
    private final StoredFile file;
    private final Frame frame;
    private final int length;
    private final ByteBuffer buffer;
    @GuardedBy("lock")
    private boolean done;

    /**
     * A block and the frame allocated for it.
     */
    record Target(Digest128 digest, StoredFile file, Frame frame, int length)
    {
        Target
        {
            requireNonNull(digest, "digest is null");
            requireNonNull(file, "file is null");
            requireNonNull(frame, "frame is null");
        }
    }

    /**
     * The caller holds the lock.
     */
    FrameFill(Tiers tiers, BlockClasses classes, SsdOffers offers, RamHits hits, Target target)
    {
        this.tiers = requireNonNull(tiers, "tiers is null");
        this.lock = tiers.lock();
        this.ram = tiers.ram();
        this.classes = requireNonNull(classes, "classes is null");
        this.offers = requireNonNull(offers, "offers is null");
        this.hits = requireNonNull(hits, "hits is null");
        this.digest = target.digest();
        this.file = target.file();
        this.frame = target.frame();
        this.length = target.length();
        this.buffer = ram.payload(frame, length).asByteBuffer();
    }

    @Override
    public ByteBuffer buffer()
    {
        return buffer;
    }

    @Override
    public Optional<PinnedBlock> commit()
    {
        return commit(false);
    }

    @Override
    public Optional<PinnedBlock> commitAhead()
    {
        return commit(true);
    }

    private Optional<PinnedBlock> commit(boolean ahead)
    {
        lock.lock();
        try {
            if (done) {
                throw new IllegalStateException("fill of block %s is committed or closed already".formatted(digest));
            }
            done = true;
        }
        finally {
            lock.unlock();
        }
        PieceChecksums checksums;
        boolean success = false;
        try {
            checksums = ram.checksums(frame, length);
            success = true;
        }
        finally {
            if (!success) {
                tiers.release(frame, file);
            }
        }
        lock.lock();
        try {
            return commitLocked(checksums, ahead);
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Publishes a guest block if its checksum matches.
     *
     * @return whether the block is now in RAM
     */
    boolean commitGuest(int expectedChecksum)
    {
        PieceChecksums checksums = ram.checksums(frame, length);
        if (checksums.whole() != expectedChecksum) {
            return false;
        }
        Optional<PinnedBlock> committed;
        lock.lock();
        try {
            done = true;
            committed = commitLocked(checksums, false);
        }
        finally {
            lock.unlock();
        }
        committed.ifPresent(PinnedBlock::close);
        return committed.isPresent();
    }

    private Optional<PinnedBlock> commitLocked(PieceChecksums checksums, boolean ahead)
    {
        try {
            if (tiers.isClosed() || file.isDropped()) {
                ram.release(frame);
                return Optional.empty();
            }
            Optional<Frame> present = ram.find(digest);
            if (present.isPresent() && present.get().isGuest() && !frame.isGuest()) {
                // replaces the guest with this worker's own block, which may be written to SSD and is not evicted first
                ram.drop(present.get());
            }
            else if (present.isPresent()) {
                ram.release(frame);
                return hits.pin(digest, BlockOrigin.RAM);
            }
            if (ahead) {
                ram.setFetchedAhead(frame, true);
            }
            ram.publish(frame, file, digest, checksums);
            classes.settle(frame);
            if (!frame.isGuest()) {
                // a block restored during the fill has its old class on SSD
                tiers.ssd().setClass(digest, frame.terms().blockClass());
            }
            offers.request(frame, true);
            return Optional.of(hits.of(frame, BlockOrigin.RAM));
        }
        finally {
            tiers.files().addFills(file, -1);
        }
    }

    @Override
    public void close()
    {
        lock.lock();
        try {
            if (done) {
                return;
            }
            done = true;
        }
        finally {
            lock.unlock();
        }
        tiers.release(frame, file);
    }
}
