package io.cachedhive.store;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.disk.Disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * What a worker keeps besides its cache: its id, in the file {@code worker-id}. Locked by the running worker.
 */
final class StateDirectory
        implements Closeable
{
    private final Path directory;
    private final Disk disk;
    private final Closeable lock;
    private final StoreEnvironment environment;

    private StateDirectory(Path directory, StoreEnvironment environment, Closeable lock)
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.environment = requireNonNull(environment, "environment is null");
        this.disk = environment.disk();
        this.lock = requireNonNull(lock, "lock is null");
    }

    static StateDirectory open(Path directory, StoreEnvironment environment)
            throws StoreException
    {
        try {
            Files.createDirectories(directory);
            Closeable lock = environment.disk().tryLock(directory.resolve("lock"))
                    .orElseThrow(() -> new StoreException("cache.state-directory %s is in use by another cache worker: stop it, or name another directory".formatted(directory)));
            return new StateDirectory(directory, environment, lock);
        }
        catch (IOException e) {
            throw new StoreException("cache.state-directory %s cannot be used (%s): let this user write there, or name another".formatted(directory, e.getMessage()), e);
        }
    }

    /**
     * The id that is kept here.
     */
    Optional<CacheWorkerId> findWorkerId()
            throws StoreException
    {
        Path file = file();
        try {
            return disk.read(file).map(content -> new CacheWorkerId(new String(content, UTF_8).strip()));
        }
        catch (IOException | IllegalArgumentException e) {
            throw new StoreException("%s does not hold a cache worker id (%s): write the worker's id into it, or remove it to get a new one".formatted(file, e.getMessage()), e);
        }
    }

    void keepWorkerId(CacheWorkerId workerId)
            throws StoreException
    {
        try {
            disk.replace(file(), (workerId + "\n").getBytes(UTF_8));
        }
        catch (IOException e) {
            throw new StoreException(
                    "the cache worker id cannot be written to %s (%s): let this user write there, or name another cache.state-directory".formatted(file(), e.getMessage()),
                    e);
        }
    }

    /**
     * The id that is kept here; makes and keeps one if there is none.
     */
    CacheWorkerId workerId()
            throws StoreException
    {
        Optional<CacheWorkerId> kept = findWorkerId();
        if (kept.isPresent()) {
            return kept.get();
        }
        CacheWorkerId made = newWorkerId();
        keepWorkerId(made);
        return made;
    }

    CacheWorkerId newWorkerId()
    {
        HexFormat hex = HexFormat.of();
        return new CacheWorkerId(hex.toHexDigits(environment.random().nextLong()) + hex.toHexDigits(environment.random().nextLong()));
    }

    private Path file()
    {
        return directory.resolve("worker-id");
    }

    @Override
    public void close()
            throws IOException
    {
        lock.close();
    }
}
