package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.checksum.MemoryChecksums;
import io.cachedhive.protocol.checksum.PieceChecksums;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import static java.util.Objects.requireNonNull;

/**
 * The bytes of a block that is not in the store, shared on the heap by its waiters. The last user to release them
 * returns the memory to the budget.
 */
public final class SharedBytes
{
    private final ByteBudget budget;
    private final byte[] bytes;
    private final AtomicInteger users = new AtomicInteger(1);
    private long etagDigest;
    // set by complete
    private PieceChecksums checksums;

    private SharedBytes(ByteBudget budget, byte[] bytes)
    {
        this.budget = requireNonNull(budget, "budget is null");
        this.bytes = requireNonNull(bytes, "bytes is null");
    }

    /**
     * Allocates memory with the caller as its first user, who fills it.
     *
     * @return empty if the budget is exhausted
     */
    public static Optional<SharedBytes> allocate(ByteBudget budget, int length)
    {
        return budget.tryAcquire(length) ? Optional.of(new SharedBytes(budget, new byte[length])) : Optional.empty();
    }

    byte[] array()
    {
        return bytes;
    }

    public void fill(ByteBuffer source)
    {
        source.duplicate().get(bytes);
    }

    /**
     * Completes the block after all bytes have been filled in.
     */
    public void complete(long etagDigest)
    {
        this.checksums = MemoryChecksums.compute(MemorySegment.ofArray(bytes));
        this.etagDigest = etagDigest;
    }

    public long etagDigest()
    {
        return etagDigest;
    }

    public int length()
    {
        return bytes.length;
    }

    /**
     * Returns the checksums of a range of the block. Verifies the pieces of which the range has only a part.
     *
     * @return empty if the bytes are damaged
     */
    public Optional<PieceChecksums> checksums(int offset, int length)
    {
        return MemoryChecksums.ofPart(MemorySegment.ofArray(bytes), checksums::value, offset, length);
    }

    public ByteBuffer payload()
    {
        return ByteBuffer.wrap(bytes).asReadOnlyBuffer();
    }

    /**
     * Adds a user. Only an existing user may call this.
     */
    public void retain()
    {
        users.incrementAndGet();
    }

    public void release()
    {
        int left = users.decrementAndGet();
        if (left < 0) {
            throw new IllegalStateException("released more often than retained");
        }
        if (left == 0) {
            budget.release(bytes.length);
        }
    }
}
