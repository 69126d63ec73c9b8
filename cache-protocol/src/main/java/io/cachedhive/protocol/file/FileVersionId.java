package io.cachedhive.protocol.file;

import static java.util.Objects.requireNonNull;

/**
 * The 128-bit identifier of a {@link FileVersion}, in memory and on the wire.
 */
public record FileVersionId(Digest128 digest)
{
    public FileVersionId
    {
        requireNonNull(digest, "digest is null");
    }

    public BlockKey block(int index)
    {
        return new BlockKey(this, index);
    }

    @Override
    public String toString()
    {
        return digest.toHex();
    }
}
