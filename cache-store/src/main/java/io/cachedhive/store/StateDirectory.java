package io.cachedhive.store;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.ssd.SsdMounts;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * What a worker keeps besides its cache: its id, in the file {@code worker-id}, how often its store was opened, in the file {@code run},
 * and where its SSD directories were mounted, in the file {@code ssd-mounts}.
 * Locked by the running worker.
 */
final class StateDirectory
        implements Closeable
{
    private static final Pattern RUN = Pattern.compile("(?<id>\\S+) (?<run>[0-9]{1,15})\\s*");

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
     * How often the worker's store was opened, as far as it is known here.
     */
    long lastRun(CacheWorkerId workerId)
    {
        try {
            Matcher matcher = RUN.matcher(disk.read(runFile()).map(content -> new String(content, UTF_8)).orElse(""));
            return matcher.matches() && matcher.group("id").equals(workerId.value()) ? Long.parseLong(matcher.group("run")) : 0;
        }
        catch (IOException e) {
            return 0;
        }
    }

    void keepRun(CacheWorkerId workerId, long run)
            throws StoreException
    {
        try {
            disk.replace(runFile(), "%s %s\n".formatted(workerId, run).getBytes(UTF_8));
        }
        catch (IOException e) {
            throw new StoreException("%s cannot be written (%s): let this user write there, or name another cache.state-directory".formatted(runFile(), e.getMessage()), e);
        }
    }

    /**
     * Where the SSD directories were before, as far as it is known here.
     */
    SsdMounts ssdMounts()
    {
        Path file = directory.resolve("ssd-mounts");
        try {
            return SsdMounts.parse(file, disk.read(file).map(content -> new String(content, UTF_8)).orElse(""));
        }
        catch (IOException e) {
            return new SsdMounts(file, Map.of());
        }
    }

    void keepSsdMounts(SsdMounts mounts)
            throws StoreException
    {
        if (mounts.equals(ssdMounts())) {
            return;
        }
        try {
            disk.replace(mounts.file(), mounts.format().getBytes(UTF_8));
        }
        catch (IOException e) {
            throw new StoreException("%s cannot be written (%s): let this user write there, or name another cache.state-directory".formatted(mounts.file(), e.getMessage()), e);
        }
    }

    private Path runFile()
    {
        return directory.resolve("run");
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
