package io.cachedhive.protocol.ssd;

/**
 * Versions of the files on SSD that a release reads and writes ({@code docs/formats/ssd.md}). Superblock, checkpoints and journal of a directory have one
 * common version.
 *
 * <p>The packages and {@code cache-admin} compare these versions with those of other releases.
 *
 * <p>A directory keeps its version until an operator raises it, as long as the release still supports that version. After a rollback of an upgrade, the
 * previous release therefore finds the blocks.
 *
 * @param oldest version that is read and written
 * @param newest version that is read and written
 */
public record SsdFormat(int oldest, int newest)
{
    /**
     * The versions of this release.
     */
    public static final SsdFormat CURRENT = new SsdFormat(1, 1);

    public SsdFormat
    {
        if (oldest < 1 || newest < oldest) {
            throw new IllegalArgumentException("versions of the format contradict each other: %s, %s".formatted(oldest, newest));
        }
    }
}
