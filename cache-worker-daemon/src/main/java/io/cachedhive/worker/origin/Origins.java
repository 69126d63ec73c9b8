package io.cachedhive.worker.origin;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.worker.StartupException;
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
     * @param observers makes the observer of an origin by its name
     * @throws StartupException if a file is wrong, or a client cannot be made of it
     */
    public static Origins load(Path directory, Function<String, OriginObserver> observers)
    {
        ImmutableMap.Builder<String, Origin> origins = ImmutableMap.builder();
        try {
            for (OriginFile file : read(directory)) {
                origins.put(file.name(), open(file, observers.apply(file.name())));
            }
        }
        catch (StartupException e) {
            origins.build().values().forEach(origin -> origin.source().close());
            throw e;
        }
        return new Origins(origins.build().values());
    }

    /**
     * Reads all files without opening anything.
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

    private static Origin open(OriginFile file, OriginObserver observer)
    {
        try {
            return new Origin(file.name(), file.id(), file.path(), S3Source.create(file.config(), observer), new OriginHealth(file.name(), file.path()));
        }
        catch (SdkException | IllegalArgumentException e) {
            String remedy = file.config().getRegion().isEmpty() ? "set s3.region" : "correct it";
            throw new StartupException("origin file %s: %s: %s".formatted(file.path(), e.getMessage(), remedy), e);
        }
    }

    public Optional<Origin> find(String name)
    {
        return Optional.ofNullable(origins.get(name));
    }

    public Collection<Origin> all()
    {
        return origins.values();
    }

    /**
     * Requests under way fail. Closing twice is harmless.
     */
    @Override
    public void close()
    {
        if (closed.compareAndSet(false, true)) {
            origins.values().forEach(origin -> origin.source().close());
        }
    }
}
