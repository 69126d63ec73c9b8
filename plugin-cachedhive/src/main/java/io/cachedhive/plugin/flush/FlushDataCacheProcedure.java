package io.cachedhive.plugin.flush;

import com.google.inject.Inject;
import com.google.inject.Provider;
import io.airlift.log.Logger;
import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.plugin.filesystem.FileOrigins;
import io.cachedhive.plugin.filesystem.FileOrigins.FileOrigin;
import io.cachedhive.plugin.membership.ClusterMembership;
import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.PlaceState;
import io.cachedhive.plugin.membership.SharedWorkerAdmin;
import io.cachedhive.plugin.partition.TablePartitions;
import io.cachedhive.plugin.partition.TablePartitions.PartitionLocation;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.Message;
import io.trino.filesystem.Location;
import io.trino.metastore.HiveMetastoreFactory;
import io.trino.plugin.hive.HiveTransactionManager;
import io.trino.spi.TrinoException;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;
import io.trino.spi.type.ArrayType;

import java.lang.invoke.MethodHandle;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;

import static com.google.common.collect.Lists.partition;
import static io.trino.plugin.base.util.Procedures.checkProcedureArgument;
import static io.trino.spi.StandardErrorCode.GENERIC_INTERNAL_ERROR;
import static io.trino.spi.StandardErrorCode.PROCEDURE_CALL_FAILED;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.lang.invoke.MethodHandles.lookup;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toSet;

/**
 * {@code CALL system.flush_data_cache(schema_name, table_name, partition_columns, partition_values)}: what any cache worker has of a table, or of some of its partitions, is
 * gone when it returns, to the last byte. A worker that is away learns of it from the others when it is back, before it serves anything. The table's files are as they were,
 * and are cached again when they are read.
 */
public final class FlushDataCacheProcedure
        implements Provider<Procedure>
{
    private static final Logger log = Logger.get(FlushDataCacheProcedure.class);

    // what was cached is overwritten
    private static final long FLUSH_MILLIS = 3_600_000;
    // of one that does not answer pings
    private static final long AWAY_MILLIS = 2_000;
    private static final int ATTEMPTS = 3;
    private static final long RETRY_MILLIS = 2_000;

    private static final MethodHandle FLUSH_DATA_CACHE;

    static {
        try {
            FLUSH_DATA_CACHE = lookup().unreflect(FlushDataCacheProcedure.class.getMethod(
                    "flushDataCache",
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
    private final TablePartitions partitions;
    private final FileOrigins origins;
    private final ClusterMembership membership;
    private final SharedWorkerAdmin workerAdmin;
    private final SecureRandom random = new SecureRandom();

    @Inject
    FlushDataCacheProcedure(
            CatalogName catalog,
            HiveTransactionManager transactionManager,
            HiveMetastoreFactory metastores,
            FileOrigins origins,
            ClusterMembership membership,
            SharedWorkerAdmin workerAdmin)
    {
        this.catalog = requireNonNull(catalog, "catalog is null").toString();
        this.partitions = new TablePartitions(transactionManager, metastores);
        this.origins = requireNonNull(origins, "origins is null");
        this.membership = requireNonNull(membership, "membership is null");
        this.workerAdmin = requireNonNull(workerAdmin, "workerAdmin is null");
    }

    @Override
    public Procedure get()
    {
        return new Procedure(
                "system",
                "flush_data_cache",
                List.of(
                        new Argument("SCHEMA_NAME", VARCHAR),
                        new Argument("TABLE_NAME", VARCHAR),
                        new Argument("PARTITION_COLUMNS", new ArrayType(VARCHAR), false, null),
                        new Argument("PARTITION_VALUES", new ArrayType(VARCHAR), false, null)),
                FLUSH_DATA_CACHE.bindTo(this),
                // as flush_metadata_cache
                true);
    }

    /**
     * Called by the engine.
     */
    public void flushDataCache(
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
            Map<String, String> values = TablePartitions.arguments(partitionColumns, partitionValues);
            SchemaTableName table = new SchemaTableName(schemaName, tableName);
            List<Tombstone> tombstones = tombstones(partitions.locations(session, accessControl, table, values));
            if (!tombstones.isEmpty()) {
                flush(table, tombstones);
            }
        }
    }

    private List<Tombstone> tombstones(List<PartitionLocation> locations)
    {
        long now = System.currentTimeMillis();
        List<Tombstone> tombstones = new ArrayList<>();
        // a directory comes before those within it
        for (String location : locations.stream().map(PartitionLocation::location).distinct().sorted().toList()) {
            Optional<FileOrigin> origin = origins.find(Location.of(location));
            if (origin.isEmpty()) {
                // files of this kind are not cached
                continue;
            }
            if (tombstones.isEmpty() || !location.startsWith(tombstones.getLast().location())) {
                tombstones.add(new Tombstone(new Digest128(random.nextLong(), random.nextLong()), origin.get().id(), location, now));
            }
        }
        return tombstones;
    }

    private record Answer(Place place, Optional<String> failure, Optional<String> problem) {}

    private void flush(SchemaTableName table, List<Tombstone> tombstones)
    {
        List<Place> places = membership.places();
        if (places.stream().noneMatch(place -> place.state() == PlaceState.ANSWERING)) {
            throw new TrinoException(PROCEDURE_CALL_FAILED, "no cache worker of catalog %s answers, so nobody can remember that %s is flushed: start one and call again".formatted(
                    catalog,
                    table));
        }
        List<Answer> answers = List.of();
        List<Place> left = places;
        try {
            for (int attempt = 0; attempt < ATTEMPTS && !left.isEmpty(); attempt++) {
                if (attempt > 0) {
                    // by then it is known whether one that was lost a moment ago is away
                    Thread.sleep(RETRY_MILLIS);
                    left = answering(left);
                }
                answers = Stream.concat(answers.stream(), ask(left, tombstones).stream()).toList();
                left = failed(answers, left);
            }
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TrinoException(GENERIC_INTERNAL_ERROR, "interrupted; the cache workers go on with what they were told", e);
        }
        catch (ExecutionException e) {
            throw new TrinoException(GENERIC_INTERNAL_ERROR, e.getCause());
        }
        check(table, answers, answering(left));
    }

    private List<Answer> ask(List<Place> places, List<Tombstone> tombstones)
            throws InterruptedException, ExecutionException
    {
        List<CompletableFuture<Answer>> asked = places.stream()
                .map(place -> ask(place, tombstones))
                .toList();
        List<Answer> answers = new ArrayList<>();
        for (CompletableFuture<Answer> each : asked) {
            answers.add(each.get());
        }
        return answers;
    }

    /**
     * Those of the places that were answering when they were asked, and did not do it.
     */
    private static List<Place> failed(List<Answer> answers, List<Place> asked)
    {
        List<Answer> last = answers.subList(answers.size() - asked.size(), answers.size());
        return last.stream()
                .filter(answer -> answer.failure().isPresent() && answer.place().state() == PlaceState.ANSWERING)
                .map(Answer::place)
                .toList();
    }

    private List<Place> answering(List<Place> places)
    {
        Set<WorkerAddress> addresses = places.stream().map(Place::address).collect(toSet());
        return membership.places().stream()
                .filter(place -> addresses.contains(place.address()) && place.state() == PlaceState.ANSWERING)
                .toList();
    }

    private static void check(SchemaTableName table, List<Answer> answers, List<Place> failed)
    {
        if (answers.stream().noneMatch(answer -> answer.failure().isEmpty())) {
            throw new TrinoException(PROCEDURE_CALL_FAILED, "no cache worker took the flush of %s (%s): call it again".formatted(
                    table,
                    answers.getLast().failure().orElseThrow()));
        }
        Map<WorkerAddress, Answer> last = new LinkedHashMap<>();
        answers.forEach(answer -> last.put(answer.place().address(), answer));
        for (Answer answer : last.values()) {
            if (answer.failure().isPresent() && failed.stream().anyMatch(place -> place.address().equals(answer.place().address()))) {
                throw new TrinoException(PROCEDURE_CALL_FAILED, "%s is not flushed on cache worker %s (%s): call it again".formatted(
                        table,
                        answer.place().address(),
                        answer.failure().get()));
            }
            if (answer.problem().isPresent()) {
                throw new TrinoException(PROCEDURE_CALL_FAILED, "nothing of %s is served any more, but on %s not all is overwritten: %s".formatted(
                        table,
                        answer.place().address(),
                        answer.problem().get()));
            }
            answer.failure().ifPresent(failure -> log.info(
                    "Cache worker %s does not answer (%s): when it is back, the others tell it that %s was flushed", answer.place().address(), failure, table));
        }
    }

    private CompletableFuture<Answer> ask(Place place, List<Tombstone> tombstones)
    {
        WorkerAdmin admin = workerAdmin.get();
        long timeoutMillis = place.state() == PlaceState.ANSWERING ? FLUSH_MILLIS : AWAY_MILLIS;
        CompletableFuture<Optional<String>> flushed = CompletableFuture.completedFuture(Optional.empty());
        for (List<Tombstone> some : partition(tombstones, Message.Flush.MAX_TOMBSTONES)) {
            flushed = flushed.thenCompose(before -> admin.flush(place.address(), some, timeoutMillis).thenApply(answer -> before.or(answer::problem)));
        }
        return flushed.handle((problem, failure) -> failure == null ?
                new Answer(place, Optional.empty(), problem) :
                new Answer(place, Optional.of(sentence(failure)), Optional.empty()));
    }

    private static String sentence(Throwable failure)
    {
        Throwable cause = failure.getCause() == null ? failure : failure.getCause();
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }
}
