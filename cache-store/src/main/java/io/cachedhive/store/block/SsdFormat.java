package io.cachedhive.store.block;

/**
 * Which versions of the files on SSD a release knows ({@code docs/formats/ssd.md}). Superblock, checkpoints and journal of a directory have one version together.
 *
 * <p>A directory keeps the version that it has, as long as this release still writes it, until an operator raises it: a release that does not know the newer
 * one finds its blocks again when an upgrade is taken back.
 *
 * @param oldest that is restored
 * @param oldestWritten directories of older ones are written in this one from their first opening on
 * @param newest that is restored and written
 */
public record SsdFormat(int oldest, int oldestWritten, int newest)
{
    /**
     * Blocks have no terms.
     */
    public static final int WITHOUT_TERMS = 1;

    /**
     * This release's.
     */
    public static final SsdFormat CURRENT = new SsdFormat(WITHOUT_TERMS, 2, 2);

    public SsdFormat
    {
        if (oldest < WITHOUT_TERMS || oldestWritten <= WITHOUT_TERMS || oldestWritten < oldest || newest < oldestWritten) {
            throw new IllegalArgumentException("versions of the format contradict each other: %s, %s, %s".formatted(oldest, oldestWritten, newest));
        }
    }

    /**
     * In which a directory is gone on with that is of a version which is restored.
     */
    public int writtenFor(int version)
    {
        return Math.max(version, oldestWritten);
    }
}
