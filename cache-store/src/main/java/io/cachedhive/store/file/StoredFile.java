package io.cachedhive.store.file;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.store.FileMetadata;

import static java.util.Objects.requireNonNull;

/**
 * One binding of a file version. After a drop, a later fill makes another object, and whatever still refers to this one is dead.
 * Guarded by the store's lock.
 */
public final class StoredFile
{
    private final FileVersionId id;
    private final int ordinal;
    private final long etagDigest;
    private FileMetadata metadata;
    private boolean dropped;
    private int fills;
    private int ramBlocks;
    private int ssdBlocks;

    StoredFile(FileVersionId id, int ordinal, FileMetadata metadata)
    {
        this.id = requireNonNull(id, "id is null");
        this.ordinal = ordinal;
        this.metadata = requireNonNull(metadata, "metadata is null");
        this.etagDigest = metadata.etagDigest();
    }

    public FileVersionId id()
    {
        return id;
    }

    /**
     * Names the file in the index of the SSD tier.
     */
    public int ordinal()
    {
        return ordinal;
    }

    public FileMetadata metadata()
    {
        return metadata;
    }

    public FileVersion version()
    {
        return metadata.version();
    }

    public long etagDigest()
    {
        return etagDigest;
    }

    void confirm()
    {
        metadata = new FileMetadata(metadata.version(), metadata.etag(), false, metadata.table());
    }

    public boolean isDropped()
    {
        return dropped;
    }

    void drop()
    {
        dropped = true;
    }

    public int ramBlocks()
    {
        return ramBlocks;
    }

    public int ssdBlocks()
    {
        return ssdBlocks;
    }

    boolean isIdle()
    {
        return fills == 0 && ramBlocks == 0 && ssdBlocks == 0;
    }

    void addFills(int count)
    {
        fills += count;
    }

    void addRamBlocks(int count)
    {
        ramBlocks += count;
    }

    void addSsdBlocks(int count)
    {
        ssdBlocks += count;
    }
}
