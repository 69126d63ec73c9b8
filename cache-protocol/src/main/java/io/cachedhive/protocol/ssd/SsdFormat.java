package io.cachedhive.protocol.ssd;

/**
 * A range of versions of the files on SSD that a release supports ({@code docs/formats/ssd.md}). The superblock, the
 * checkpoints and the journal of a directory share one version.
 *
 * <p>The packages and {@code cache-admin} compare these versions with those of other releases.
 *
 * <p>A directory keeps its version until an operator raises it, as long as the release supports that version. After the
 * rollback of an upgrade, the previous release can therefore read the blocks.
 *
 * @param oldest the oldest supported version
 * @param newest the newest supported version
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
