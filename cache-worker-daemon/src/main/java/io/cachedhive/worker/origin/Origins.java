package io.cachedhive.worker.origin;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.worker.startup.StartupException;
import software.amazon.awssdk.core.exception.SdkException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableMap.toImmutableMap;

/**
 * The object stores that this worker fetches from, by name.
 */
public final class Origins
        implements AutoCloseable
{
    private final Map<String, Origin> origins;
    private final AtomicBoolean closed = new AtomicBoolean();

    public Origins(Collection<Origin> origins)
    {
        this.origins = origins.stream().collect(toImmutableMap(Origin::name, Function.identity()));
    }

    /**
     * Loads the properties files. Clients are created by {@link #connect}, or earlier on first use.
     *
     * @param observers returns the observer of an origin by name
     * @param encryptedAtRest whether the cached blocks are encrypted on SSD
     * @throws StartupException if a file is invalid
     */
    public static Origins load(Path directory, Function<String, OriginObserver> observers, boolean encryptedAtRest)
    {
        return new Origins(read(directory).stream()
                .map(file -> origin(file, observers, encryptedAtRest))
                .toList());
    }

    private static Origin origin(OriginFile file, Function<String, OriginObserver> observers, boolean encryptedAtRest)
    {
        OriginId id;
        try {
            id = file.id();
        }
        catch (IllegalArgumentException e) {
            throw refused(file, e);
        }
        ObjectSource source = new DeferredSource(() -> connect(file, observers.apply(file.name()), encryptedAtRest));
        return new Origin(file.name(), id, file.path(), source, new OriginHealth(file.name(), file.path()), file.allowedLocations());
    }

    /**
     * Creates the clients of all origins.
     *
     * @throws StartupException if a client cannot be created from its properties
     */
    public void connect()
    {
        for (Origin origin : origins.values()) {
            if (origin.source() instanceof DeferredSource source) {
                source.connect();
            }
        }
    }

    /**
     * Reads all properties files without opening connections.
     *
     * @throws StartupException if a file is invalid
     */
    public static List<OriginFile> read(Path directory)
    {
        if (!Files.isDirectory(directory)) {
            throw new StartupException("cache.origins-directory=%s is not a directory (%s): create it, with a file NAME.properties for each object store"
                    .formatted(directory, directory.toAbsolutePath()));
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(OriginFile::isOriginFile)
                    .sorted()
                    .map(OriginFile::read)
                    .toList();
        }
        catch (IOException e) {
            throw new StartupException("cache.origins-directory=%s cannot be listed: %s".formatted(directory, e), e);
        }
    }

    private static ObjectSource connect(OriginFile file, OriginObserver observer, boolean encryptedAtRest)
    {
        try {
            return S3Source.create(file.config(), observer, encryptedAtRest, System::nanoTime);
        }
        catch (SdkException | IllegalArgumentException e) {
            throw refused(file, e);
        }
    }

    private static StartupException refused(OriginFile file, RuntimeException failure)
    {
        String remedy = file.config().getRegion().isEmpty() ? "set s3.region" : "correct it";
        return new StartupException("origin file %s: %s: %s".formatted(file.path(), failure.getMessage(), remedy), failure);
    }

    public Optional<Origin> find(String name)
    {
        return Optional.ofNullable(origins.get(name));
    }

    /**
     * Returns whether this worker may keep blocks of a file: an origin of the file permits its location.
     */
    public boolean permit(FileVersion file)
    {
        return origins.values().stream().anyMatch(origin -> origin.id().equals(file.origin()) && origin.allowedLocations().permit(file.location()));
    }

    public Collection<Origin> all()
    {
        return origins.values();
    }

    /**
     * Closes all clients, so that requests in progress fail. Closing twice has no effect.
     */
    @Override
    public void close()
    {
        if (closed.compareAndSet(false, true)) {
            origins.values().forEach(origin -> origin.source().close());
        }
    }
}
