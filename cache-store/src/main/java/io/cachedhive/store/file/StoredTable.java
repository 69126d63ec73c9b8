package io.cachedhive.store.file;

import static com.google.common.base.Verify.verify;

/**
 * The size of a table in each tier, and its limit. Guarded by the store's lock.
 *
 * <p>A file that two tables share counts for the table that bound it first.
 */
public final class StoredTable
{
    /**
     * The limit of a table without a quota.
     */
    public static final long UNLIMITED = Long.MAX_VALUE;

    private long ramBytes;
    private long ssdBytes;
    // of blocks being written to SSD
    private long reservedSsdBytes;
    private long limitBytes = UNLIMITED;
    private boolean watched;

    StoredTable() {}

    /**
     * Returns the bytes of live blocks in RAM, without resting ones.
     */
    public long ramBytes()
    {
        return ramBytes;
    }

    public long ssdBytes()
    {
        return ssdBytes;
    }

    public void addRamBytes(long bytes)
    {
        ramBytes += bytes;
        verify(ramBytes >= 0, "a table has %s bytes in RAM", ramBytes);
    }

    void addSsdBytes(long bytes)
    {
        ssdBytes += bytes;
        verify(ssdBytes >= 0, "a table has %s bytes on SSD", ssdBytes);
    }

    public void addReservedSsdBytes(long bytes)
    {
        reservedSsdBytes += bytes;
        verify(reservedSsdBytes >= 0, "a table has %s bytes that are being written", reservedSsdBytes);
    }

    /**
     * Returns the limit per tier, in bytes.
     */
    public long limitBytes()
    {
        return limitBytes;
    }

    /**
     * Returns whether the table had a limit in this run. From then on, queues order its blocks for eviction.
     */
    public boolean isWatched()
    {
        return watched;
    }

    public void setLimit(long bytes)
    {
        verify(bytes >= 0, "a table may have %s bytes", bytes);
        limitBytes = bytes;
        watched = true;
    }

    /**
     * Returns how many bytes have to leave RAM before the given number fits into the limit; 0 or less if none.
     */
    public long ramExcess(long bytes)
    {
        return ramBytes + bytes - limitBytes;
    }

    /**
     * Returns how many bytes have to leave SSD before the given number fits into the limit; 0 or less if none.
     */
    public long ssdExcess(long bytes)
    {
        return ssdBytes + reservedSsdBytes + bytes - limitBytes;
    }

    /**
     * Returns whether the given number of bytes fits into the limit in RAM.
     */
    public boolean hasRamRoom(long bytes)
    {
        return ramExcess(bytes) <= 0;
    }

    /**
     * Returns whether the given number of bytes fits into the limit on SSD, including blocks being written.
     */
    public boolean hasSsdRoom(long bytes)
    {
        return ssdExcess(bytes) <= 0;
    }
}
