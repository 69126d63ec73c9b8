package io.cachedhive.trino.filesystem;

import com.google.inject.Inject;
import io.cachedhive.client.CacheClient;
import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ClientCounters.TableCounters;
import io.cachedhive.client.counters.ReadAhead;
import io.cachedhive.plugin.client.NodeCacheClient;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.trino.context.ReadContext;
import io.cachedhive.trino.context.SplitFile;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoInput;
import io.trino.filesystem.TrinoInputFile;
import io.trino.filesystem.TrinoInputStream;
import io.trino.filesystem.cache.TrinoFileSystemCache;
import io.trino.filesystem.memory.MemoryFileSystemCache;
import io.trino.spi.catalog.CatalogName;

import java.io.IOException;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.Executors.newCachedThreadPool;

/**
 * The binding between Trino's file system and the cache.
 *
 * <p>The key that Trino hands over names no bucket and is never used: a file is known by its origin, full location, length and time of last modification. Files that
 * do not change after they were written are known without the time.
 *
 * <p>What is read without a context goes to the memory cache that Trino's own file system would use there: on the coordinator, for the metadata of some connectors.
 */
public final class CachedHiveFileSystemCache
        implements TrinoFileSystemCache
{
    // as many as there is memory for; they wait for cache workers, and copy what comes
    private static final Executor READ_AHEADS = newCachedThreadPool(Thread.ofPlatform().daemon().name("cachedhive-read-ahead-", 0).factory());

    private final String catalog;
    private final FileOrigins origins;
    private final NodeCacheClient client;
    private final Optional<MemoryFileSystemCache> memoryCache;
    private final Tracer tracer;

    /**
     * Without spans.
     */
    public CachedHiveFileSystemCache(CatalogName catalog, FileOrigins origins, NodeCacheClient client)
    {
        this(catalog, origins, client, Optional.empty(), TracerProvider.noop().get("cachedhive"));
    }

    /**
     * @param memoryCache that Trino would use without this cache
     * @param tracer makes spans of reads that miss
     */
    @Inject
    public CachedHiveFileSystemCache(
            CatalogName catalog,
            FileOrigins origins,
            NodeCacheClient client,
            Optional<MemoryFileSystemCache> memoryCache,
            Tracer tracer)
    {
        this.catalog = requireNonNull(catalog, "catalog is null").toString();
        this.origins = requireNonNull(origins, "origins is null");
        this.client = requireNonNull(client, "client is null");
        this.memoryCache = requireNonNull(memoryCache, "memoryCache is null");
        this.tracer = requireNonNull(tracer, "tracer is null");
    }

    @Override
    public TrinoInput cacheInput(TrinoInputFile delegate, String key)
            throws IOException
    {
        Optional<ReadContext> context = ReadContext.current(catalog);
        Optional<FileOrigin> origin = origins.find(delegate.location().toString());
        if (context.isEmpty() || origin.isEmpty()) {
            return memoryCache.isPresent() ? memoryCache.get().cacheInput(delegate, key) : delegate.newInput();
        }
        if (context.get().isBypass()) {
            return bypassInput(context.get(), delegate.newInput(), BypassCause.RULE);
        }
        FileVersion version = fileVersion(context.get(), origin.get(), delegate);
        if (context.get().isShadow()) {
            return bypassInput(context.get(), new RequestedInput(delegate.newInput(), version.length(), this.client.get().requestedBlocks(version)), BypassCause.SHADOW);
        }
        TrinoOriginInput originInput = new TrinoOriginInput(delegate, Instant.ofEpochMilli(version.lastModifiedMillis()), unknownFile(context.get(), delegate));
        CacheClient client = this.client.get();
        return new CountingInput(
                new CachedTrinoInput(
                        delegate.location(),
                        client.open(origin.get().index(), version, context.get().scope(), originInput, missSpans(version, context.get())),
                        originInput),
                requestedBytes(context.get(), client));
    }

    @Override
    public TrinoInputStream cacheStream(TrinoInputFile delegate, String key)
            throws IOException
    {
        Optional<ReadContext> context = ReadContext.current(catalog);
        Optional<FileOrigin> origin = origins.find(delegate.location().toString());
        if (context.isEmpty() || origin.isEmpty()) {
            return memoryCache.isPresent() ? memoryCache.get().cacheStream(delegate, key) : delegate.newStream();
        }
        if (context.get().isBypass()) {
            return bypassStream(context.get(), delegate.newStream(), BypassCause.RULE);
        }
        FileVersion version = fileVersion(context.get(), origin.get(), delegate);
        CacheClient client = this.client.get();
        if (context.get().isShadow()) {
            return bypassStream(context.get(), new RequestedInputStream(delegate.newStream(), client.requestedBlocks(version)), BypassCause.SHADOW);
        }
        TrinoOriginStream originStream = new TrinoOriginStream(
                delegate,
                Instant.ofEpochMilli(version.lastModifiedMillis()),
                unknownFile(context.get(), delegate));
        SplitFile splitFile = context.get().splitFile();
        return new CountingInputStream(
                new CachedTrinoInputStream(
                        delegate.location(),
                        version.length(),
                        splitFile.location().equals(delegate.location()) ? splitFile.splitEnd() : version.length(),
                        client.open(origin.get().index(), version, context.get().scope(), originStream, missSpans(version, context.get())),
                        originStream,
                        delegate::newStream,
                        READ_AHEADS),
                requestedBytes(context.get(), client));
    }

    private MissSpans missSpans(FileVersion version, ReadContext context)
    {
        return new MissSpans(tracer, version.location(), context.tableName());
    }

    /**
     * Trino's own, with the bytes counted.
     */
    private TrinoInput bypassInput(ReadContext context, TrinoInput delegate, BypassCause cause)
    {
        CacheClient client = this.client.get();
        TableCounters counters = client.counters().table(context.tableName());
        TrinoInput bypass = new CountingInput(delegate, count -> counters.addBypass(context.observer(), cause, count, 0));
        return new CountingInput(bypass, requestedBytes(context, client));
    }

    private TrinoInputStream bypassStream(ReadContext context, TrinoInputStream delegate, BypassCause cause)
    {
        CacheClient client = this.client.get();
        // one request, however many bytes are read of it at a time
        ReadAhead bytes = ReadAhead.ofBypass(client.counters().table(context.tableName()), context.observer(), cause, Long.MAX_VALUE, 0);
        return new CountingInputStream(new CountingInputStream(delegate, bytes::use), requestedBytes(context, client));
    }

    private FileVersion fileVersion(ReadContext context, FileOrigin origin, TrinoInputFile delegate)
            throws IOException
    {
        String location = delegate.location().toString();
        if (context.hasImmutableFiles()) {
            // costs a HEAD only where the reader is not to trust the length that the table's metadata has
            return new FileVersion(origin.id(), location, delegate.length(), FileVersion.IMMUTABLE);
        }
        Optional<SplitFile> listed = listedFile(context, delegate.location());
        if (listed.isPresent()) {
            return new FileVersion(origin.id(), location, listed.get().length(), listed.get().lastModifiedMillis());
        }
        // costs a HEAD if the reader does not know them, as it would without the cache
        return new FileVersion(origin.id(), location, delegate.length(), delegate.lastModified().toEpochMilli());
    }

    /**
     * What the split knows of the file saves asking the origin, where some readers would. In S3 only: elsewhere a listing may tell a padded length.
     */
    private static Optional<SplitFile> listedFile(ReadContext context, Location location)
    {
        SplitFile splitFile = context.splitFile();
        if (!context.hasImmutableFiles() && splitFile.location().equals(location) && FileOrigins.isS3(location.toString())) {
            return Optional.of(splitFile);
        }
        return Optional.empty();
    }

    private static Supplier<TrinoInputFile> unknownFile(ReadContext context, TrinoInputFile delegate)
    {
        return () -> context.openFileSystem().newInputFile(delegate.location());
    }

    private static LongConsumer requestedBytes(ReadContext context, CacheClient client)
    {
        TableCounters counters = client.counters().table(context.tableName());
        return count -> {
            context.addRequested(count);
            counters.addRequested(count);
        };
    }

    @Override
    public long cacheLength(TrinoInputFile delegate, String key)
            throws IOException
    {
        Optional<ReadContext> context = ReadContext.current(catalog);
        if (context.isEmpty()) {
            return memoryCache.isPresent() ? memoryCache.get().cacheLength(delegate, key) : delegate.length();
        }
        Optional<SplitFile> listed = listedFile(context.get(), delegate.location());
        return listed.isPresent() ? listed.get().length() : delegate.length();
    }

    /**
     * Concerns the memory cache only. A file that was replaced is another file version, and statements report the files that they remove to all cache workers
     * ({@link io.cachedhive.trino.release.ReleasingFileSystemFactory}).
     */
    @Override
    public void expire(Location location)
            throws IOException
    {
        if (memoryCache.isPresent()) {
            memoryCache.get().expire(location);
        }
    }

    @Override
    public void expire(Collection<Location> locations)
            throws IOException
    {
        if (memoryCache.isPresent()) {
            memoryCache.get().expire(locations);
        }
    }
}
