package io.cachedhive.trino.flush;

import com.google.inject.Inject;
import io.airlift.log.Logger;
import io.cachedhive.plugin.membership.WorkerNotices;
import io.cachedhive.plugin.membership.WorkerNotices.Answer;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.wire.InvalidationMessage;
import io.cachedhive.trino.partition.PartitionProcedure;
import io.cachedhive.trino.partition.TableFiles;
import io.cachedhive.trino.partition.TableFiles.PartitionLocation;
import io.trino.spi.TrinoException;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import static com.google.common.collect.Lists.partition;
import static io.trino.spi.StandardErrorCode.GENERIC_INTERNAL_ERROR;
import static io.trino.spi.StandardErrorCode.PROCEDURE_CALL_FAILED;
import static java.util.Objects.requireNonNull;

/**
 * {@code CALL system.flush_data_cache(schema_name, table_name, partition_columns, partition_values)}: drops the cached blocks of a table, or of some of its partitions, on all
 * cache workers, durably. After the call returns, no cache worker serves them again. An unreachable cache worker applies the flush before it serves blocks again: it learns of it
 * from its peers and from this coordinator. The table's files do not change, and later reads cache them again.
 */
public final class FlushDataCacheProcedure
        extends PartitionProcedure
{
    private static final Logger log = Logger.get(FlushDataCacheProcedure.class);

    // a cache worker applies one flush after another
    private static final long FLUSH_MILLIS = 600_000;

    private final String catalog;
    private final TableFiles files;
    private final FileOrigins origins;
    private final WorkerNotices notices;
    private final SecureRandom random = new SecureRandom();

    @Inject
    FlushDataCacheProcedure(
            CatalogName catalog,
            TableFiles files,
            FileOrigins origins,
            WorkerNotices notices)
    {
        // named arguments only, as flush_metadata_cache
        super("flush_data_cache", true);
        this.catalog = requireNonNull(catalog, "catalog is null").toString();
        this.files = requireNonNull(files, "files is null");
        this.origins = requireNonNull(origins, "origins is null");
        this.notices = requireNonNull(notices, "notices is null");
    }

    @Override
    protected void run(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName table, Map<String, String> values)
    {
        List<Tombstone> tombstones = tombstones(files.locations(session, accessControl, table, values));
        if (!tombstones.isEmpty()) {
            flush(table, tombstones);
        }
    }

    private List<Tombstone> tombstones(List<PartitionLocation> locations)
    {
        long now = System.currentTimeMillis();
        List<Tombstone> tombstones = new ArrayList<>();
        // a directory comes before those within it
        for (String location : locations.stream().map(PartitionLocation::location).distinct().sorted().toList()) {
            Optional<FileOrigin> origin = origins.find(location);
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

    private void flush(SchemaTableName table, List<Tombstone> tombstones)
    {
        if (!notices.isAnyAnswering()) {
            throw new TrinoException(PROCEDURE_CALL_FAILED, "no cache worker of catalog %s answers, so the flush of %s cannot be recorded: start one and call again".formatted(
                    catalog,
                    table));
        }
        try {
            check(table, notices.notifyWorkers("the flush of " + table, FLUSH_MILLIS, (admin, address, timeoutMillis) -> {
                CompletableFuture<Optional<String>> flushed = CompletableFuture.completedFuture(Optional.empty());
                for (List<Tombstone> some : partition(tombstones, InvalidationMessage.Flush.MAX_TOMBSTONES)) {
                    flushed = flushed.thenCompose(before -> admin.flush(address, some, timeoutMillis).thenApply(answer -> before.or(answer::problem)));
                }
                return flushed;
            }));
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TrinoException(GENERIC_INTERNAL_ERROR, "interrupted; the cache workers continue with the request", e);
        }
    }

    private static void check(SchemaTableName table, List<Answer<Optional<String>>> answers)
    {
        if (answers.stream().noneMatch(answer -> answer.failure().isEmpty())) {
            throw new TrinoException(PROCEDURE_CALL_FAILED, "no cache worker took the flush of %s (%s): call it again".formatted(
                    table,
                    answers.getLast().failure().orElseThrow()));
        }
        for (Answer<Optional<String>> answer : answers) {
            if (answer.failure().isPresent() && answer.answers()) {
                throw new TrinoException(PROCEDURE_CALL_FAILED, "%s is not flushed on cache worker %s (%s): call it again".formatted(
                        table,
                        answer.address(),
                        answer.failure().get()));
            }
            Optional<String> problem = answer.answer().flatMap(said -> said);
            if (problem.isPresent()) {
                throw new TrinoException(PROCEDURE_CALL_FAILED, "blocks of %s are no longer served, but the flush may be lost on cache worker %s: %s".formatted(
                        table,
                        answer.address(),
                        problem.get()));
            }
            answer.failure().ifPresent(failure -> log.info(
                    "Cache worker %s does not answer (%s): it will be notified of the flush of %s when it is back", answer.address(), failure, table));
        }
    }
}
