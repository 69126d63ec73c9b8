package io.cachedhive.worker.origin;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.util.Optional;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * Makes a source only when it is needed: a client of an object store takes a good part of a second to be made, in which a worker that starts serves
 * what it has.
 */
final class DeferredSource
        implements ObjectSource
{
    private final Supplier<ObjectSource> maker;
    @GuardedBy("this")
    private Optional<ObjectSource> made = Optional.empty();

    /**
     * @param maker asked once; once more if it failed
     */
    DeferredSource(Supplier<ObjectSource> maker)
    {
        this.maker = requireNonNull(maker, "maker is null");
    }

    /**
     * Makes the source, if it is not made yet. Throws what the maker throws.
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
