package io.cachedhive.worker.testing;

import io.cachedhive.store.BlockStore;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A block store in RAM only.
 */
public final class TestingStore
        implements AutoCloseable
{
    private final Path ramDirectory;
    private final BlockStore store;

    public TestingStore(Path directory, int blockSizeBytes, long ramBytes)
    {
        try {
            ramDirectory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test-");
            store = BlockStore.open(
                    StoreConfig.ramOnly(directory.resolve("state")).withRam(ramDirectory, ramBytes).withBlockSize(blockSizeBytes),
                    StoreEnvironment.system());
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        catch (StoreException e) {
            throw new IllegalStateException(e);
        }
    }

    public BlockStore store()
    {
        return store;
    }

    @Override
    public void close()
    {
        store.close();
        try {
            Files.deleteIfExists(ramDirectory);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
