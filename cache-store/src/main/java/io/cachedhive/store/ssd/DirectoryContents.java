package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.column.IntColumn;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.slab.SizeClasses;

import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * The index, the slabs and the counters of an SSD directory in memory. The caller updates journal and disk. Guarded by
 * the store's lock.
 *
 * <p>Invariants: an index entry and its extent refer to each other; the policy has the entry; the file table has its
 * file and counts its blocks. {@link #checkpointBytes} is always up to date.
 */
final class DirectoryContents
{
    // per block in a checkpoint
    static final int BLOCK_RECORD_BYTES = 8 + 8 + 8 + 4 + 1 + 4 + 4 + 4 + 1 + 1 + 4;
    static final int SLAB_RECORD_BYTES = 5;
    // per size class
    static final int POLICY_RECORD_BYTES = 2;
    // per file with its texts, except the characters: 4 + 16 + 8 + 1 + 4, varints of at most 7, 10, 5, 5, 5, 3 and 3
    // bytes, three times 4 + 4, and 17 for the origin
    private static final int FILE_RECORD_BYTES = 33 + 38 + 24 + 17;

    // more than the largest block record with its file, because the file and each of its three texts fit into a chunk
    private static final long AMPLE_RECORD_BYTES = 8L * Checkpoint.MAX_CHUNK_BODY_BYTES;

    private final Geometry geometry;
    private final SizeClasses sizeClasses;
    private final FileTable files;
    private final SsdIndex index = new SsdIndex();
    private final SsdSlab[] slabs;
    private final DirectoryPolicy policy;
    private final IntColumn blocksByFile = new IntColumn();
    private long blocks;
    private long usedBytes;
    private long fileRecordBytes;
    private boolean changed;

    DirectoryContents(Geometry geometry, FileTable files)
    {
        this.geometry = requireNonNull(geometry, "geometry is null");
        this.files = requireNonNull(files, "files is null");
        this.sizeClasses = geometry.sizeClasses();
        this.slabs = new SsdSlab[geometry.slabCount()];
        for (int i = 0; i < slabs.length; i++) {
            slabs[i] = new SsdSlab(i);
        }
        this.policy = new DirectoryPolicy(index, slabs, sizeClasses, files, geometry.blockSizeBytes());
    }

    SsdIndex index()
    {
        return index;
    }

    SsdSlab[] slabs()
    {
        return slabs;
    }

    DirectoryPolicy policy()
    {
        return policy;
    }

    FileTable files()
    {
        return files;
    }

    int find(Digest128 digest)
    {
        return index.find(digest.high(), digest.low());
    }

    /**
     * Adds a block in an extent whose write is complete.
     */
    void add(SsdSlab slab, int extent, Digest128 digest, long sequence, int length, StoredFile file, BlockTerms terms)
    {
        int entry = index.insert(digest.high(), digest.low(), sequence, slab.number, extent, length, file.ordinal(), terms);
        slab.written(extent, entry);
        policy.add(entry);
        count(file.ordinal(), length, 1);
    }

    /**
     * Counts an entry that recovery inserted from the journal.
     */
    void countReplayed(int entry)
    {
        policy.addAgain(entry);
        count(index.file(entry), index.length(entry), 1);
    }

    /**
     * Counts an entry that recovery inserted from the checkpoint.
     *
     * @param heat as in the checkpoint
     */
    void countRestored(int entry, byte heat)
    {
        policy.restore(entry, heat);
        count(index.file(entry), index.length(entry), 1);
    }

    void setTerms(int entry, BlockTerms terms)
    {
        policy.setTerms(entry, terms);
        changed = true;
    }

    void remove(int entry)
    {
        int ordinal = index.file(entry);
        int length = index.length(entry);
        policy.remove(entry);
        slabs[index.slab(entry)].free(index.extent(entry));
        index.remove(entry);
        count(ordinal, length, -1);
    }

    private void count(int ordinal, int length, int change)
    {
        int before = blocksByFile.find(ordinal);
        blocksByFile.set(ordinal, before + change);
        if (before == 0) {
            fileRecordBytes += fileRecordBytes(ordinal);
        }
        else if (before + change == 0) {
            fileRecordBytes -= fileRecordBytes(ordinal);
        }
        blocks += change;
        usedBytes += (long) change * length;
        changed = true;
        files.addSsdBlocks(ordinal, change, (long) change * length);
    }

    /**
     * Returns an upper bound for a file's record in a checkpoint, in bytes.
     */
    long fileRecordBytes(int ordinal)
    {
        return recordBytesOfFile(files.textBytes(ordinal));
    }

    /**
     * Returns an upper bound for a file's record, given its {@link FileTable#textBytes(int)}. Counts all its texts,
     * although most of them are shared.
     */
    static long recordBytesOfFile(int textBytes)
    {
        return (long) FILE_RECORD_BYTES + textBytes;
    }

    /**
     * Returns an upper bound for a checkpoint of the current contents, in bytes.
     */
    long checkpointBytes()
    {
        long recordBytes = blocks * BLOCK_RECORD_BYTES + fileRecordBytes + (long) slabs.length * SLAB_RECORD_BYTES + (long) sizeClasses.count() * POLICY_RECORD_BYTES;
        return 2L * HeaderPage.BYTES + withChunkHeaders(recordBytes);
    }

    /**
     * Returns an upper bound for records with their chunk headers, in bytes.
     */
    static long withChunkHeaders(long recordBytes)
    {
        return recordBytes + recordBytes / 256;
    }

    /**
     * Returns whether a checkpoint has capacity for a restored block. It may not, because records of the previous
     * format version are shorter.
     */
    boolean hasRoomForRestored(int entry)
    {
        long room = geometry.checkpointBytes() - checkpointBytes() - 1;
        // spares the expensive read of the texts from the file's record
        if (room >= AMPLE_RECORD_BYTES) {
            return true;
        }
        int ordinal = index.file(entry);
        long added = BLOCK_RECORD_BYTES + (blocksOf(ordinal) > 0 ? 0 : fileRecordBytes(ordinal));
        return withChunkHeaders(added) <= room;
    }

    /**
     * Removes an entry that recovery inserted but did not count.
     */
    void removeUncounted(int entry)
    {
        slabs[index.slab(entry)].free(index.extent(entry));
        index.remove(entry);
    }

    boolean contains(StoredFile file)
    {
        return blocksOf(file.ordinal()) > 0;
    }

    int blocksOf(int ordinal)
    {
        return blocksByFile.find(ordinal);
    }

    /**
     * Returns the exclusive upper bound for ordinals of files with blocks.
     */
    int ordinalLimit()
    {
        return blocksByFile.size();
    }

    /**
     * Returns the offset of an extent in its slab, in bytes.
     */
    long position(int slab, int extent)
    {
        return (long) extent * sizeClasses.units(slabs[slab].sizeClass) * Geometry.UNIT_BYTES;
    }

    long blocks()
    {
        return blocks;
    }

    long usedBytes()
    {
        return usedBytes;
    }

    /**
     * Marks that no checkpoint has the latest changes.
     */
    void setChanged()
    {
        changed = true;
    }

    boolean isChanged()
    {
        return changed;
    }

    /**
     * Marks that the checkpoint being started has all changes.
     */
    void clearChanged()
    {
        changed = false;
    }

    /**
     * For tests.
     */
    void checkInvariants()
    {
        long counted = 0;
        long bytes = 0;
        for (int entry = 0; entry < index.limit(); entry++) {
            if (index.isUsed(entry)) {
                counted++;
                bytes += index.length(entry);
                SsdSlab slab = slabs[index.slab(entry)];
                verify(slab.entry(index.extent(entry)) == entry, "extent %s of slab %s is not that of entry %s", index.extent(entry), slab.number, entry);
                verify(Extent.units(index.length(entry)) <= sizeClasses.units(slab.sizeClass), "entry %s does not fit into its extent", entry);
                verify(index.find(index.digestHigh(entry), index.digestLow(entry)) == entry, "entry %s is not found", entry);
                verify(contains(files.byOrdinal(index.file(entry))), "the file of entry %s is not counted", entry);
            }
        }
        verify(counted == index.size() && counted == blocks, "%s blocks are counted as %s, %s", counted, index.size(), blocks);
        verify(bytes == usedBytes, "%s bytes are counted as %s", bytes, usedBytes);
        policy.checkInvariants();
        verify(checkpointBytes() <= geometry.checkpointBytes(), "a checkpoint of %s bytes does not fit into %s", checkpointBytes(), geometry.checkpointBytes());
    }
}
