package io.cachedhive.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.store.ram.Frame;

import java.nio.ByteBuffer;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * A block in a frame that stays pinned until this object is closed.
 */
final class FramePin
        implements PinnedBlock
{
    private final Tiers tiers;
    private final Frame frame;
    private final long generation;
    private final int length;
    private final long etagDigest;
    private final BlockOrigin tier;
    @GuardedBy("tiers.lock()")
    private boolean released;

    /**
     * The caller holds the lock and has pinned the frame.
     */
    FramePin(Tiers tiers, Frame frame, long etagDigest, BlockOrigin tier)
    {
        this.tiers = requireNonNull(tiers, "tiers is null");
        this.frame = requireNonNull(frame, "frame is null");
        this.generation = frame.generation();
        this.length = frame.length();
        this.etagDigest = etagDigest;
        this.tier = requireNonNull(tier, "tier is null");
    }

    @Override
    public int frame()
    {
        return frame.number();
    }

    @Override
    public long frameOffset()
    {
        return tiers.ram().frameOffset(frame);
    }

    @Override
    public long generation()
    {
        return generation;
    }

    @Override
    public int length()
    {
        return length;
    }

    @Override
    public long etagDigest()
    {
        return etagDigest;
    }

    @Override
    public Optional<PieceChecksums> checksums(int offset, int partLength)
    {
        Optional<PieceChecksums> checksums = tiers.ram().checksums(frame, length, offset, partLength);
        if (checksums.isEmpty()) {
            dropDamaged();
        }
        return checksums;
    }

    private void dropDamaged()
    {
        tiers.lock().lock();
        try {
            if (!released && frame.generation() == generation && frame.holdsBlock()) {
                tiers.ram().dropDamaged(frame);
            }
        }
        finally {
            tiers.lock().unlock();
        }
    }

    @Override
    public ByteBuffer payload()
    {
        return tiers.ram().payload(frame, length).asByteBuffer().asReadOnlyBuffer();
    }

    @Override
    public BlockOrigin tier()
    {
        return tier;
    }

    @Override
    public void close()
    {
        tiers.lock().lock();
        try {
            if (!released) {
                released = true;
                tiers.ram().unpin(frame);
            }
        }
        finally {
            tiers.lock().unlock();
        }
    }
}
