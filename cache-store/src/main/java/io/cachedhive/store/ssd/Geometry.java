package io.cachedhive.store.ssd;

import io.cachedhive.store.block.ByteSize;
import io.cachedhive.store.slab.SizeClasses;

import static io.cachedhive.store.disk.DiskFile.ALIGNMENT_BYTES;

/**
 * The sizes of the files of an SSD directory, derived from its capacity. All sizes are fixed, and their sum is at most
 * the capacity:
 * <pre>
 *   superblock, lock       8 KiB, a few bytes
 *   journal                1/64 of the capacity, at most 64 MiB
 *   checkpoint-0, -1       1/128 each
 *   slab-00000, ...        the rest: at most 16 files with equally many slabs each, except the last one
 *   slack                  1/2048, and 4 KiB for each slab: file system metadata like extent maps of fragmented files
 * </pre>
 *
 * <p>From 128 GiB on, slabs have the same size whatever the capacity is, just below 256 MiB. Each size class may have a
 * slab that is nearly empty, so larger slabs would waste space and memory for extents without blocks. A smaller
 * directory has about 512 slabs, so that each size class can have some.
 *
 * @param unitsPerSlab in units of 4 KiB
 */
record Geometry(int blockSizeBytes, int unitsPerSlab, int slabCount, long journalBytes, long checkpointBytes)
{
    static final int UNIT_BYTES = ALIGNMENT_BYTES;

    private static final long MIN_SLACK_BYTES = 64 << 10;
    private static final long EXTENT_MAP_BYTES = 4 << 10;
    private static final long MIN_JOURNAL_BYTES = 256 << 10;
    private static final long MAX_JOURNAL_BYTES = 64 << 20;
    private static final long MIN_CHECKPOINT_BYTES = 128 << 10;
    private static final int MIN_SLABS = 2;
    private static final int WANTED_SLABS = 512;
    private static final int MIN_EXTENTS_PER_SLAB = 4;
    private static final long MAX_SLAB_BYTES = 256 << 20;
    private static final int MAX_SLAB_FILES = 16;
    private static final int MAX_SLABS = 1 << 20;
    private static final int MAX_BLOCK_BYTES = 8 << 20;

    Geometry
    {
        // the values may come from a disk
        if (blockSizeBytes < 1 || blockSizeBytes > MAX_BLOCK_BYTES
                || unitsPerSlab < MIN_EXTENTS_PER_SLAB * largestExtentUnits(blockSizeBytes)
                || slabCount < 1 || slabCount > MAX_SLABS
                || journalBytes < MIN_JOURNAL_BYTES || journalBytes > MAX_JOURNAL_BYTES || journalBytes != alignDown(journalBytes)
                || checkpointBytes < HeaderPage.BYTES || checkpointBytes != alignDown(checkpointBytes)) {
            throw new IllegalArgumentException("impossible geometry: blocks of %s bytes, %s slabs of %s units, a journal of %s bytes, checkpoints of %s bytes".formatted(
                    blockSizeBytes,
                    slabCount,
                    unitsPerSlab,
                    journalBytes,
                    checkpointBytes));
        }
    }

    /**
     * @throws IllegalArgumentException if the capacity is too small
     */
    static Geometry forCapacity(long capacityBytes, int blockSizeBytes)
    {
        long extentBytes = (long) largestExtentUnits(blockSizeBytes) * UNIT_BYTES;
        long extentsPerSlab = Math.clamp(capacityBytes / WANTED_SLABS / extentBytes, MIN_EXTENTS_PER_SLAB, MAX_SLAB_BYTES / extentBytes);
        long slabBytes = extentsPerSlab * extentBytes;
        long journalBytes = alignDown(Math.clamp(capacityBytes / 64, MIN_JOURNAL_BYTES, MAX_JOURNAL_BYTES));
        long checkpointBytes = alignDown(Math.max(capacityBytes / 128, MIN_CHECKPOINT_BYTES));
        long slabs = (capacityBytes - fixedBytes(capacityBytes) - journalBytes - 2 * checkpointBytes) / (slabBytes + EXTENT_MAP_BYTES);
        if (slabs < MIN_SLABS) {
            throw new IllegalArgumentException("%s are too few for blocks of %s: at least %s are needed".formatted(
                    ByteSize.format(capacityBytes),
                    ByteSize.format(blockSizeBytes),
                    ByteSize.format(MIN_SLACK_BYTES + 2 * Superblock.PAGE_BYTES + MIN_JOURNAL_BYTES + 2 * MIN_CHECKPOINT_BYTES + MIN_SLABS * (slabBytes + EXTENT_MAP_BYTES))));
        }
        return new Geometry(blockSizeBytes, Math.toIntExact(slabBytes / UNIT_BYTES), Math.toIntExact(slabs), journalBytes, checkpointBytes);
    }

    private static long fixedBytes(long capacityBytes)
    {
        return Math.max(MIN_SLACK_BYTES, capacityBytes / 2048) + 2 * Superblock.PAGE_BYTES;
    }

    private static long alignDown(long bytes)
    {
        return bytes & -UNIT_BYTES;
    }

    static int largestExtentUnits(int blockSizeBytes)
    {
        return Extent.units(blockSizeBytes);
    }

    long slabBytes()
    {
        return (long) unitsPerSlab * UNIT_BYTES;
    }

    /**
     * Returns the number of slabs per file; the last file may have fewer.
     */
    private int slabsPerFile()
    {
        return Math.ceilDiv(slabCount, MAX_SLAB_FILES);
    }

    int slabFileCount()
    {
        return Math.ceilDiv(slabCount, slabsPerFile());
    }

    /**
     * Returns the number of the file with a slab.
     */
    int slabFile(int slab)
    {
        return slab / slabsPerFile();
    }

    /**
     * Returns the offset of a slab in its file.
     */
    long slabOffset(int slab)
    {
        return slab % slabsPerFile() * slabBytes();
    }

    long slabFileBytes(int file)
    {
        return Math.min(slabsPerFile(), slabCount - file * slabsPerFile()) * slabBytes();
    }

    /**
     * Returns the size of all files.
     */
    long totalBytes()
    {
        return 2 * Superblock.PAGE_BYTES + journalBytes + 2 * checkpointBytes + slabCount * slabBytes();
    }

    SizeClasses sizeClasses()
    {
        return SizeClasses.create(unitsPerSlab, largestExtentUnits(blockSizeBytes));
    }
}
