package io.cachedhive.store.block;

import java.nio.file.Path;

import static java.util.Objects.requireNonNull;

/**
 * A directory of the SSD tier.
 */
public record SsdDirectoryConfig(Path directory, Capacity capacity)
{
    public SsdDirectoryConfig
    {
        requireNonNull(directory, "directory is null");
        requireNonNull(capacity, "capacity is null");
    }

    /**
     * How much the directory may hold, everything in it counted.
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
         * {@code cache.ssd.max-disk-usage-percentages}: of the size of the file system that the directory is on.
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
