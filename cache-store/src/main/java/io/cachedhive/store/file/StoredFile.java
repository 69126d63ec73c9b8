package io.cachedhive.store.file;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;

import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * A reference to one binding of a file version in a {@link FileTable}. A fill after a drop creates another binding, and
 * references to the old one become invalid even if the ordinal is reused. Two references are equal if they refer to the
 * same binding.
 *
 * <p>{@link #id}, {@link #ordinal} and {@link #etagDigest} are immutable; the rest is guarded by the store's lock.
 */
public final class StoredFile
{
    private final FileTable table;
    private final int ordinal;
    private final int binding;
    private final long digestHigh;
    private final long digestLow;
    private final long etagDigest;

    StoredFile(FileTable table, int ordinal, int binding, long digestHigh, long digestLow, long etagDigest)
    {
        this.table = requireNonNull(table, "table is null");
        this.ordinal = ordinal;
        this.binding = binding;
        this.digestHigh = digestHigh;
        this.digestLow = digestLow;
        this.etagDigest = etagDigest;
    }

    public FileVersionId id()
    {
        return new FileVersionId(new Digest128(digestHigh, digestLow));
    }

    /**
     * Returns the number of the file in the index of the SSD tier.
     */
    public int ordinal()
    {
        return ordinal;
    }

    public long etagDigest()
    {
        return etagDigest;
    }

    /**
     * Returns whether the table still has the binding. A dropped binding stays while it has blocks or fills.
     */
    public boolean isKnown()
    {
        return table.binding(ordinal) == binding;
    }

    /**
     * Returns the metadata of a known file; each call decodes it.
     */
    public FileMetadata metadata()
    {
        verify(isKnown(), "file %s is not in the table any more", id());
        return table.metadata(ordinal);
    }

    /**
     * Returns the version of a known file; each call decodes it.
     */
    public FileVersion version()
    {
        return metadata().version();
    }

    public boolean isDropped()
    {
        return !isKnown() || table.isDropped(ordinal);
    }

    public int ramBlocks()
    {
        return isKnown() ? table.ramBlocks(ordinal) : 0;
    }

    public int ssdBlocks()
    {
        return isKnown() ? table.ssdBlocks(ordinal) : 0;
    }

    @Override
    public boolean equals(Object object)
    {
        return object instanceof StoredFile other && other.table == table && other.ordinal == ordinal && other.binding == binding;
    }

    @Override
    public int hashCode()
    {
        return 31 * ordinal + binding;
    }

    @Override
    public String toString()
    {
        return "%s (%s)".formatted(id(), ordinal);
    }
}
