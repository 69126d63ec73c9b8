package io.cachedhive.benchmark.memory;

import io.cachedhive.store.StoreConfig;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Directories in shared memory for the RAM tiers of the stores and cache workers that benchmarks start.
 */
public final class MemoryDirectory
{
    /**
     * The system property with the directory, on a tmpfs, in which all are created, so that a test sees only its own. Benchmarks that run in JVMs of their own
     * get it from the JVM that starts them.
     */
    public static final String PARENT_PROPERTY = "cachedhive.benchmark.memory";

    private MemoryDirectory() {}

    public static Path create()
            throws IOException
    {
        return Files.createTempDirectory(parent(), "cachedhive-benchmark");
    }

    public static Path parent()
    {
        return Path.of(System.getProperty(PARENT_PROPERTY, StoreConfig.DEFAULT_RAM_DIRECTORY.toString()));
    }
}
