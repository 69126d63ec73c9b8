package io.cachedhive.trino.filesystem;

import com.google.inject.Inject;
import com.google.inject.Provider;
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
import io.trino.filesystem.TrinoFileSystemFactory;
import io.trino.filesystem.TrinoInput;
import io.trino.filesystem.TrinoInputFile;
import io.trino.filesystem.TrinoInputStream;
import io.trino.filesystem.cache.TrinoFileSystemCache;
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
 * <p>The key that Trino hands over names no bucket and is never used: a file is known by its origin, full location, length and time of last modification.
 */
public final class CachedHiveFileSystemCache
        implements TrinoFileSystemCache
{
    // as many as there is memory for; they wait for cache workers, and copy what comes
    private static final Executor READ_AHEADS = newCachedThreadPool(Thread.ofPlatform().daemon().name("cachedhive-read-ahead-", 0).factory());

    private final String catalog;
    private final FileOrigins origins;
    private final NodeCacheClient client;
    private final Provider<TrinoFileSystemFactory> fileSystemFactory;
    private final Tracer tracer;

    /**
     * Without spans.
     */
    public CachedHiveFileSystemCache(CatalogName catalog, FileOrigins origins, NodeCacheClient client, Provider<TrinoFileSystemFactory> fileSystemFactory)
    {
        this(catalog, origins, client, fileSystemFactory, TracerProvider.noop().get("cachedhive"));
    }

    /**
     * @param fileSystemFactory a provider, since the factory itself needs this cache
     * @param tracer makes spans of reads that miss
     */
    @Inject
    public CachedHiveFileSystemCache(
            CatalogName catalog,
            FileOrigins origins,
            NodeCacheClient client,
            Provider<TrinoFileSystemFactory> fileSystemFactory,
            Tracer tracer)
    {
        this.catalog = requireNonNull(catalog, "catalog is null").toString();
        this.origins = requireNonNull(origins, "origins is null");
        this.client = requireNonNull(client, "client is null");
        this.fileSystemFactory = requireNonNull(fileSystemFactory, "fileSystemFactory is null");
        this.tracer = requireNonNull(tracer, "tracer is null");
    }

    @Override
    public TrinoInput cacheInput(TrinoInputFile delegate, String key)
            throws IOException
    {
        Optional<ReadContext> context = ReadContext.current(catalog);
        Optional<FileOrigin> origin = origins.find(delegate.location().toString());
        if (context.isEmpty() || origin.isEmpty()) {
            return delegate.newInput();
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
            return delegate.newStream();
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
        if (splitFile.location().equals(location) && FileOrigins.isS3(location.toString())) {
            return Optional.of(splitFile);
        }
        return Optional.empty();
    }

    private Supplier<TrinoInputFile> unknownFile(ReadContext context, TrinoInputFile delegate)
    {
        return () -> fileSystemFactory.get().create(context.identity()).newInputFile(delegate.location());
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
        Optional<SplitFile> listed = ReadContext.current(catalog)
                .flatMap(context -> listedFile(context, delegate.location()));
        return listed.isPresent() ? listed.get().length() : delegate.length();
    }

    /**
     * Does nothing. A file that was replaced is another file version, and statements report the files that they remove to all cache workers
     * ({@link io.cachedhive.trino.release.ReleasingFileSystemFactory}).
     */
    @Override
    public void expire(Location location) {}

    @Override
    public void expire(Collection<Location> locations) {}
}
