package io.cachedhive.store.file;

import static com.google.common.base.Verify.verify;

/**
 * What each tier has of a table, and may have. Guarded by the store's lock.
 *
 * <p>Blocks are those of the files that were bound for the table first: a file that two tables have counts for one of them.
 */
public final class StoredTable
{
    /**
     * The limit of a table without a quota.
     */
    public static final long UNLIMITED = Long.MAX_VALUE;

    private long ramBytes;
    private long ssdBytes;
    // of blocks that are being written to SSD
    private long reservedSsdBytes;
    private long limitBytes = UNLIMITED;
    private boolean watched;

    StoredTable() {}

    /**
     * Of blocks that live in RAM; not those that only rest there.
     */
    public long ramBytes()
    {
        return ramBytes;
    }

    /**
     * Of blocks on SSD.
     */
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
     * Bytes that each tier may have.
     */
    public long limitBytes()
    {
        return limitBytes;
    }

    /**
     * Whether a limit was ever said in this run: from then on its blocks are kept in order, so that the one to leave is found.
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
     * How many bytes have to leave RAM before so many more are within the limit; 0 or less if none.
     */
    public long ramExcess(long bytes)
    {
        return ramBytes + bytes - limitBytes;
    }

    /**
     * How many bytes have to leave SSD before so many more are within the limit; 0 or less if none.
     */
    public long ssdExcess(long bytes)
    {
        return ssdBytes + reservedSsdBytes + bytes - limitBytes;
    }

    /**
     * Whether so many bytes more are within the limit in RAM.
     */
    public boolean hasRamRoom(long bytes)
    {
        return ramExcess(bytes) <= 0;
    }

    /**
     * Whether so many bytes more are within the limit on SSD, with what is being written there.
     */
    public boolean hasSsdRoom(long bytes)
    {
        return ssdExcess(bytes) <= 0;
    }
}
