package io.cachedhive.worker.origin;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.util.Optional;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * Creates an object source on first use. Creating a client of an object store takes a large fraction of a second,
 * during which a starting worker can already serve cached blocks.
 */
final class DeferredSource
        implements ObjectSource
{
    private final Supplier<ObjectSource> maker;
    @GuardedBy("this")
    private Optional<ObjectSource> made = Optional.empty();

    /**
     * @param maker creates the source; called once, and again after a failure
     */
    DeferredSource(Supplier<ObjectSource> maker)
    {
        this.maker = requireNonNull(maker, "maker is null");
    }

    /**
     * Creates the source if necessary. Throws the exceptions of the maker.
     */
    synchronized ObjectSource connect()
    {
        if (made.isEmpty()) {
            made = Optional.of(maker.get());
        }
        return made.get();
    }

    @Override
    public ObjectRange open(S3ObjectLocation location, long position, long length, Optional<String> ifMatch)
            throws ObjectSourceException
    {
        return connect().open(location, position, length, ifMatch);
    }

    @Override
    public ObjectState head(S3ObjectLocation location)
            throws ObjectSourceException
    {
        return connect().head(location);
    }

    @Override
    public int maxAttempts()
    {
        return connect().maxAttempts();
    }

    @Override
    public synchronized void close()
    {
        made.ifPresent(ObjectSource::close);
    }
}
