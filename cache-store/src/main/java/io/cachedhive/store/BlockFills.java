package io.cachedhive.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.SsdTier;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * Allocates frames for new blocks and stores guests.
 */
final class BlockFills
{
    /**
     * The pause between two attempts to allocate a frame.
     */
    static final long FRAME_PAUSE_NANOS = 2_000_000;

    private final Tiers tiers;
    private final ReentrantLock lock;
    private final FileTable files;
    private final RamTier ram;
    private final SsdTier ssd;
    private final BlockClasses classes;
    private final SsdOffers offers;
    private final RamHits hits;
    private final Invalidator invalidator;

    @GuardedBy("lock")
    private long refused;

    BlockFills(Tiers tiers, BlockClasses classes, SsdOffers offers, RamHits hits, Invalidator invalidator)
    {
        this.tiers = requireNonNull(tiers, "tiers is null");
        this.lock = tiers.lock();
        this.files = tiers.files();
        this.ram = tiers.ram();
        this.ssd = tiers.ssd();
        this.classes = requireNonNull(classes, "classes is null");
        this.offers = requireNonNull(offers, "offers is null");
        this.hits = requireNonNull(hits, "hits is null");
        this.invalidator = requireNonNull(invalidator, "invalidator is null");
    }

    /**
     * See {@link BlockStore#awaitFill}.
     */
    Optional<FrameFill> await(BlockKey key, int length, long etagDigest, BlockTerms terms, long flushesBefore, Duration patience)
    {
        long start = System.nanoTime();
        while (true) {
            boolean patient = System.nanoTime() - start < patience.toNanos();
            Attempt attempt = attempt(key, length, etagDigest, terms, flushesBefore, !patient);
            if (!attempt.lacksFrame() || !patient) {
                return attempt.fill();
            }
            LockSupport.parkNanos(FRAME_PAUSE_NANOS);
        }
    }

    /**
     * See {@link BlockStore#beginFill(BlockKey, int, long, BlockTerms, long)}.
     */
    Optional<FrameFill> begin(BlockKey key, int length, long etagDigest, BlockTerms terms, long flushesBefore)
    {
        return attempt(key, length, etagDigest, terms, flushesBefore, true).fill();
    }

    /**
     * @param lacksFrame whether there is no fill because no frame is free
     */
    private record Attempt(Optional<FrameFill> fill, boolean lacksFrame)
    {
        private static final Attempt REFUSED = new Attempt(Optional.empty(), false);
        private static final Attempt WITHOUT_FRAME = new Attempt(Optional.empty(), true);
    }

    private Attempt attempt(BlockKey key, int length, long etagDigest, BlockTerms terms, long flushesBefore, boolean last)
    {
        lock.lock();
        try {
            if (tiers.isClosed() || invalidator.count() != flushesBefore) {
                return Attempt.REFUSED;
            }
            Optional<StoredFile> file = files.get(key.file());
            if (file.isEmpty() || file.get().etagDigest() != etagDigest) {
                return Attempt.REFUSED;
            }
            int expected = file.get().version().blockLength(key.index(), tiers.blockSizeBytes());
            if (length != expected) {
                throw new IllegalArgumentException("block %s of file %s has %s bytes, not %s".formatted(key.index(), key.file(), expected, length));
            }
            boolean pinned = terms.blockClass() != BlockClass.GUEST && classes.isPinnedByName(file.get());
            Optional<Frame> frame = ram.allocate(length, pinned ? terms.withClass(BlockClass.PINNED) : terms, file.get());
            if (frame.isEmpty()) {
                refused += last ? 1 : 0;
                return Attempt.WITHOUT_FRAME;
            }
            files.addFills(file.get(), 1);
            return new Attempt(Optional.of(new FrameFill(tiers, classes, offers, hits, new FrameFill.Target(key.digest(), file.get(), frame.get(), length))), false);
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * See {@link BlockStore#offerGuest(FileVersion, int, String, long, int, ByteBuffer, long)}.
     *
     * @param terms with class guest
     */
    boolean offerGuest(FileVersion version, int block, String table, long etagDigest, int checksum, ByteBuffer bytes, BlockTerms terms, long flushesBefore)
    {
        FileVersionId id = version.id();
        BlockKey key = id.block(block);
        Digest128 digest = key.digest();
        int length = bytes.remaining();
        Optional<FrameFill> fill;
        lock.lock();
        try {
            if (tiers.isClosed() || invalidator.count() != flushesBefore) {
                return false;
            }
            Optional<StoredFile> known = files.get(id);
            if (known.isPresent() && known.get().etagDigest() != etagDigest) {
                return false;
            }
            if (ram.find(digest).isPresent()) {
                return true;
            }
            if (ssd.find(digest).isPresent()) {
                // a reader loads it into RAM from SSD
                return false;
            }
            if (known.isEmpty()) {
                files.addForGuests(id, version, table, etagDigest);
            }
            fill = begin(key, length, etagDigest, terms, flushesBefore);
        }
        finally {
            lock.unlock();
        }
        if (fill.isEmpty()) {
            return false;
        }
        try (FrameFill guest = fill.get()) {
            guest.buffer().put(0, bytes, bytes.position(), length);
            return guest.commitGuest(checksum);
        }
    }

    /**
     * Returns the number of fills without a free frame. The caller holds the lock.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    long refused()
    {
        return refused;
    }
}
