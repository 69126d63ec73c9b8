package io.cachedhive.store.ssd;

/**
 * Which versions of the files on SSD this release knows ({@code docs/formats/ssd.md}).
 */
public final class SsdFormat
{
    private SsdFormat() {}

    /**
     * The oldest version that is still restored.
     */
    public static int oldestVersion()
    {
        return Superblock.OLDEST_VERSION;
    }

    /**
     * The version that is written. A release that does not know it begins with an empty directory.
     */
    public static int version()
    {
        return Superblock.FORMAT_VERSION;
    }
}
