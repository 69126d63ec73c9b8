package io.cachedhive.trino.context;

import io.cachedhive.client.DeliveredStates;
import io.cachedhive.client.ReadScope;
import io.cachedhive.client.counters.ReadObserver;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.RingEpoch;
import io.trino.filesystem.TrinoFileSystem;
import io.trino.spi.connector.SchemaTableName;

import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * On whose behalf the current thread reads files: the scan of one split.
 *
 * <p>Trino's file system cache is asked for a file without the session, the table or the split. So the page source provider opens this context around
 * every call into Hive's page source, and whoever makes an input or a stream on that thread captures it, for all the reads that follow on whatever thread.
 * Without a context nothing is cached: writers, metastore files, views, statistics and the coordinator's own reads go straight to Trino's file system.
 */
public final class ReadContext
{
    private static final ThreadLocal<ReadContext> CURRENT = new ThreadLocal<>();

    private final String catalog;
    private final String queryId;
    private final SchemaTableName table;
    private final Supplier<TrinoFileSystem> fileSystem;
    private final CacheDecision decision;
    private final Optional<RingEpoch> epoch;
    private final SplitFile splitFile;

    private final String tableName;
    private final ReadObserver observer = new ReadObserver();
    private final DeliveredStates delivered = new DeliveredStates();
    private final LongAdder requestedBytes = new LongAdder();

    /**
     * @param fileSystem opens the file system that the scan reads with
     * @param epoch the ring by which the scan was planned; empty if there was none
     */
    public ReadContext(
            String catalog,
            String queryId,
            SchemaTableName table,
            Supplier<TrinoFileSystem> fileSystem,
            CacheDecision decision,
            Optional<RingEpoch> epoch,
            SplitFile splitFile)
    {
        this.catalog = requireNonNull(catalog, "catalog is null");
        this.queryId = requireNonNull(queryId, "queryId is null");
        this.table = requireNonNull(table, "table is null");
        this.fileSystem = requireNonNull(fileSystem, "fileSystem is null");
        this.decision = requireNonNull(decision, "decision is null");
        this.epoch = requireNonNull(epoch, "epoch is null");
        this.splitFile = requireNonNull(splitFile, "splitFile is null");
        this.tableName = table.toString();
    }

    /**
     * The context of the current thread, if it reads for a scan of the catalog.
     */
    public static Optional<ReadContext> current(String catalog)
    {
        ReadContext context = CURRENT.get();
        if (context == null || !context.catalog.equals(catalog)) {
            return Optional.empty();
        }
        return Optional.of(context);
    }

    /**
     * Makes this the current thread's context until the result is closed, by the same thread.
     */
    public Opened open()
    {
        return Opened.of(this);
    }

    /**
     * Leaves the current thread without a context until the result is closed, by the same thread.
     */
    public static Opened none()
    {
        return Opened.of(null);
    }

    public String catalog()
    {
        return catalog;
    }

    public String queryId()
    {
        return queryId;
    }

    public SchemaTableName table()
    {
        return table;
    }

    /**
     * {@code schema.table}, as counters name it.
     */
    public String tableName()
    {
        return tableName;
    }

    /**
     * Opens the file system that the scan reads with.
     */
    public TrinoFileSystem openFileSystem()
    {
        return fileSystem.get();
    }

    public SplitFile splitFile()
    {
        return splitFile;
    }

    /**
     * Whether the files of the scan do not change after they were written, so that none of them is identified by its modification time.
     */
    public boolean hasImmutableFiles()
    {
        return splitFile.lastModifiedMillis() == FileVersion.IMMUTABLE;
    }

    /**
     * Whether the cache is to be asked for nothing.
     */
    public boolean isBypass()
    {
        return decision.bypass();
    }

    /**
     * Whether cache workers are only to hear what is asked for.
     */
    public boolean isShadow()
    {
        return decision.shadow();
    }

    public ReadScope scope()
    {
        return new ReadScope(tableName, epoch, decision.fill(), decision.fillsAsGuests(), decision.terms(), observer, delivered);
    }

    /**
     * Where the scan's bytes came from.
     */
    public ReadObserver observer()
    {
        return observer;
    }

    /**
     * Counts bytes that the scan asked for, wherever they came from.
     */
    public void addRequested(long bytes)
    {
        requestedBytes.add(bytes);
    }

    public long requestedBytes()
    {
        return requestedBytes.sum();
    }

    @Override
    public String toString()
    {
        return "ReadContext{catalog=%s, queryId=%s, table=%s, decision=%s, epoch=%s, file=%s}".formatted(catalog, queryId, table, decision, epoch, splitFile.location());
    }

    /**
     * Closed, it brings back what was before.
     */
    public static final class Opened
            implements AutoCloseable
    {
        private final ReadContext previous;

        private Opened(ReadContext previous)
        {
            this.previous = previous;
        }

        private static Opened of(ReadContext context)
        {
            Opened opened = new Opened(CURRENT.get());
            set(context);
            return opened;
        }

        private static void set(ReadContext context)
        {
            if (context == null) {
                CURRENT.remove();
            }
            else {
                CURRENT.set(context);
            }
        }

        @Override
        public void close()
        {
            set(previous);
        }
    }
}
