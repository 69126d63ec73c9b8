package io.cachedhive.worker.fetch;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;

import static java.util.Objects.requireNonNull;

/**
 * The bytes of a block that is not in the store, on the heap for those who wait for it. Counts its users; the last one gives the memory back to the budget.
 */
public final class SharedBytes
{
    private final ByteBudget budget;
    private final byte[] bytes;
    private final AtomicInteger users = new AtomicInteger(1);
    private long etagDigest;
    private int checksum;

    private SharedBytes(ByteBudget budget, byte[] bytes)
    {
        this.budget = requireNonNull(budget, "budget is null");
        this.bytes = requireNonNull(bytes, "bytes is null");
    }

    /**
     * With the caller as its first user, who fills it.
     *
     * @return empty if the budget is used up
     */
    public static Optional<SharedBytes> allocate(ByteBudget budget, int length)
    {
        return budget.tryAcquire(length) ? Optional.of(new SharedBytes(budget, new byte[length])) : Optional.empty();
    }

    byte[] array()
    {
        return bytes;
    }

    /**
     * Copies the bytes in.
     */
    public void fill(ByteBuffer source)
    {
        source.duplicate().get(bytes);
    }

    /**
     * All bytes are there.
     */
    public void complete(long etagDigest)
    {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        this.checksum = (int) crc.getValue();
        this.etagDigest = etagDigest;
    }

    public long etagDigest()
    {
        return etagDigest;
    }

    /**
     * CRC32C
     */
    public int checksum()
    {
        return checksum;
    }

    public ByteBuffer payload()
    {
        return ByteBuffer.wrap(bytes).asReadOnlyBuffer();
    }

    /**
     * One user more, told by one who is one.
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
