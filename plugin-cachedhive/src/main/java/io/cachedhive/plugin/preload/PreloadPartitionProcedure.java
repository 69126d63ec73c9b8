package io.cachedhive.plugin.preload;

import com.google.inject.Inject;
import com.google.inject.Provider;
import io.cachedhive.plugin.connector.CacheDecisions;
import io.cachedhive.plugin.connector.CachedHiveConfig;
import io.cachedhive.plugin.filesystem.FileOrigins;
import io.cachedhive.plugin.membership.ClusterMembership;
import io.cachedhive.plugin.membership.SharedWorkerAdmin;
import io.cachedhive.protocol.ring.PublishedRing;
import io.trino.plugin.hive.HiveTransactionManager;
import io.trino.spi.TrinoException;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplitManager;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;
import io.trino.spi.type.ArrayType;

import java.lang.invoke.MethodHandle;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

import static io.trino.plugin.base.util.Procedures.checkProcedureArgument;
import static io.trino.spi.StandardErrorCode.GENERIC_INTERNAL_ERROR;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static io.trino.spi.StandardErrorCode.PROCEDURE_CALL_FAILED;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.lang.invoke.MethodHandles.lookup;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * {@code CALL system.preload_partition(schema_name, table_name, partition_columns, partition_values)}: loads a partition into the cache, each chunk into
 * its owner, and returns when it is there. Some of the partition columns name all partitions with those values.
 */
public final class PreloadPartitionProcedure
        implements Provider<Procedure>
{
    /**
     * Small enough to show progress, and a divisor of nearly every chunk size.
     */
    private static final long MAX_PIECE_BYTES = 8 << 20;

    private static final MethodHandle PRELOAD_PARTITION;

    static {
        try {
            PRELOAD_PARTITION = lookup().unreflect(PreloadPartitionProcedure.class.getMethod(
                    "preloadPartition",
                    ConnectorSession.class,
                    ConnectorAccessControl.class,
                    String.class,
                    String.class,
                    List.class,
                    List.class));
        }
        catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private final String catalog;
    private final PreloadPlan plan;
    private final PreloadJobs jobs;
    private final ClusterMembership membership;
    private final SharedWorkerAdmin workerAdmin;
    private final CacheDecisions decisions;

    @Inject
    PreloadPartitionProcedure(
            CatalogName catalog,
            CachedHiveConfig config,
            HiveTransactionManager transactionManager,
            ConnectorSplitManager splitManager,
            FileOrigins origins,
            PreloadJobs jobs,
            ClusterMembership membership,
            SharedWorkerAdmin workerAdmin,
            CacheDecisions decisions)
    {
        this.catalog = requireNonNull(catalog, "catalog is null").toString();
        this.plan = new PreloadPlan(transactionManager, splitManager, origins, config.getChunkSize().toBytes(), MAX_PIECE_BYTES);
        this.jobs = requireNonNull(jobs, "jobs is null");
        this.membership = requireNonNull(membership, "membership is null");
        this.workerAdmin = requireNonNull(workerAdmin, "workerAdmin is null");
        this.decisions = requireNonNull(decisions, "decisions is null");
    }

    @Override
    public Procedure get()
    {
        return new Procedure(
                "system",
                "preload_partition",
                List.of(
                        new Argument("SCHEMA_NAME", VARCHAR),
                        new Argument("TABLE_NAME", VARCHAR),
                        new Argument("PARTITION_COLUMNS", new ArrayType(VARCHAR), false, null),
                        new Argument("PARTITION_VALUES", new ArrayType(VARCHAR), false, null)),
                PRELOAD_PARTITION.bindTo(this));
    }

    /**
     * Called by the engine.
     */
    public void preloadPartition(
            ConnectorSession session,
            ConnectorAccessControl accessControl,
            String schemaName,
            String tableName,
            List<String> partitionColumns,
            List<String> partitionValues)
    {
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(getClass().getClassLoader())) {
            checkProcedureArgument(schemaName != null, "schema_name cannot be null");
            checkProcedureArgument(tableName != null, "table_name cannot be null");
            Map<String, String> partition = partition(partitionColumns, partitionValues);
            checkCached();
            preload(session, accessControl, new SchemaTableName(schemaName, tableName), partition);
        }
    }

    private static Map<String, String> partition(List<String> columns, List<String> values)
    {
        checkProcedureArgument((columns == null) == (values == null), "partition_columns and partition_values are required both or neither");
        if (columns == null) {
            return Map.of();
        }
        checkProcedureArgument(columns.size() == values.size(), "partition_columns has %s elements and partition_values %s", columns.size(), values.size());
        checkProcedureArgument(!columns.isEmpty(), "partition_columns cannot be empty: leave it out for an unpartitioned table");
        Map<String, String> partition = new LinkedHashMap<>();
        for (int i = 0; i < columns.size(); i++) {
            checkProcedureArgument(columns.get(i) != null, "partition_columns cannot contain null");
            checkProcedureArgument(values.get(i) != null, "partition_values cannot contain null: the partition of null is __HIVE_DEFAULT_PARTITION__");
            String column = columns.get(i).toLowerCase(Locale.ENGLISH);
            checkProcedureArgument(partition.put(column, values.get(i)) == null, "partition_columns names %s twice", column);
        }
        return partition;
    }

    private void checkCached()
    {
        decisions.problem().ifPresent(problem -> {
            throw new TrinoException(NOT_SUPPORTED, problem);
        });
        if (!decisions.mayCache()) {
            throw new TrinoException(NOT_SUPPORTED, "catalog %s is read without the cache: cachedhive.mode is OFF".formatted(catalog));
        }
    }

    private void preload(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName table, Map<String, String> partition)
    {
        Instant started = Instant.now();
        List<PreloadPiece> pieces = plan.plan(session, accessControl, table, partition);
        PublishedRing ring = membership.ring()
                .orElseThrow(() -> new TrinoException(PROCEDURE_CALL_FAILED, "no cache worker of catalog %s answers: the table cache.stats tells where to start one"
                        .formatted(catalog)));

        PreloadJob job = new PreloadJob(session.getQueryId(), table, name(partition), pieces.stream().mapToLong(PreloadPiece::length).sum(), started);
        jobs.add(job);
        try {
            PreloadRun.start(workerAdmin.get(), ring, table.toString(), job, pieces).get();
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TrinoException(GENERIC_INTERNAL_ERROR, "interrupted; the cache workers go on with what they were sent", e);
        }
        catch (ExecutionException e) {
            throw new TrinoException(GENERIC_INTERNAL_ERROR, e.getCause());
        }
        finally {
            job.end(Instant.now());
        }

        PreloadJob.Status status = job.status();
        if (status.failedBytes() > 0) {
            throw new TrinoException(PROCEDURE_CALL_FAILED, "%s of %s bytes of %s could not be loaded: %s".formatted(
                    status.failedBytes(),
                    status.failedBytes() + status.doneBytes(),
                    table,
                    status.problem().orElseThrow()));
        }
    }

    private static Optional<String> name(Map<String, String> partition)
    {
        if (partition.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(partition.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(joining("/")));
    }
}
