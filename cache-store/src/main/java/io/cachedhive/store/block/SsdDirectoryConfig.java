package io.cachedhive.store.block;

import java.nio.file.Path;

import static java.util.Objects.requireNonNull;

/**
 * The configuration of a directory of the SSD tier.
 */
public record SsdDirectoryConfig(Path directory, Capacity capacity)
{
    public SsdDirectoryConfig
    {
        requireNonNull(directory, "directory is null");
        requireNonNull(capacity, "capacity is null");
    }

    /**
     * Limit on the total size of all files in the directory.
     */
    public sealed interface Capacity
    {
        /**
         * {@code cache.ssd.max-sizes}
         */
        record Bytes(long bytes)
                implements Capacity
        {
            public Bytes
            {
                if (bytes <= 0) {
                    throw new IllegalArgumentException("capacity is not positive: " + bytes);
                }
            }
        }

        /**
         * {@code cache.ssd.max-disk-usage-percentages}: of the size of the directory's file system.
         */
        record DiskPercentage(int percentage)
                implements Capacity
        {
            public DiskPercentage
            {
                if (percentage < 1 || percentage > 100) {
                    throw new IllegalArgumentException("percentage is not between 1 and 100: " + percentage);
                }
            }
        }
    }
}
