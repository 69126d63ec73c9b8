package io.cachedhive.engine.query;

import com.google.common.collect.ImmutableList;
import com.google.inject.Inject;
import io.trino.FullConnectorSession;
import io.trino.security.AccessControl;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.InMemoryRecordSet;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.predicate.TupleDomain;
import io.trino.spi.security.Identity;
import io.trino.spi.type.Type;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.trino.spi.connector.SystemTable.Distribution.SINGLE_COORDINATOR;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

/**
 * {@code system.cache.queries}: the last queries that scanned tables of cachedhive catalogs. Users see their own queries and those that Trino's access control lets them see.
 */
public final class QueriesTable
        implements SystemTable
{
    private static final List<Column> COLUMNS = ImmutableList.of(
            column("query_id", VARCHAR, "Query id", QueryRecord::queryId),
            column("user", VARCHAR, "User that runs the query", query -> query.owner().getUser()),
            column("state", VARCHAR, "State of the query", QueryRecord::state),
            column("created", TIMESTAMP_TZ_MILLIS, "Time when the query was created", query -> packDateTimeWithZone(query.created().toEpochMilli(), UTC_KEY)),
            column("elapsed_seconds", DOUBLE, "Time since the query was created, until its end", QueryRecord::elapsedSeconds),
            column("tables", VARCHAR, "Tables of cachedhive catalogs that the query reads, separated by commas", QueryRecord::tables),
            column("hit_rate", DOUBLE, "Fraction of cacheable bytes served from RAM, SSD and other hosts, 0 to 1; NULL if no cacheable bytes were read",
                    query -> query.hitRate().orElse(null)),
            metric("requested_bytes", "Bytes that the query requested"),
            metric("ram_hit_bytes", "Bytes read from the local RAM tier"),
            metric("ssd_hit_bytes", "Bytes read from the local SSD tier"),
            metric("non_local_hit_bytes", "Bytes read from cache workers of other hosts"),
            metric("remote_read_bytes", "Bytes read from the origin into the cache"),
            metric("bypass_bytes", "Bytes read from the origin, bypassing the cache"),
            column("bypass_bytes_by_cause", VARCHAR, "Bypassed bytes by cause, as in no_worker=512, timeout=4096; NULL if no bytes bypassed the cache",
                    query -> query.bypassBytesByCause().orElse(null)),
            wait("ram_hit", "Time that reads waited for the local RAM tier"),
            wait("ssd_hit", "Time that reads waited for the local SSD tier"),
            wait("non_local_hit", "Time that reads waited for cache workers of other hosts"),
            wait("remote_read", "Time that reads waited for the origin, into the cache"),
            wait("bypass", "Time that reads waited for the origin, bypassing the cache"),
            column("saved_requests", BIGINT, "Reads with bytes from the cache, each of which saved a request", QueryRecord::savedRequests),
            column("spent_requests", BIGINT, "Reads with bytes from the object store", QueryRecord::spentRequests),
            column("error", VARCHAR, "Error of a failed query; NULL if it did not fail", query -> query.error().orElse(null)));

    private static final ConnectorTableMetadata METADATA = new ConnectorTableMetadata(
            new SchemaTableName("cache", "queries"),
            COLUMNS.stream().map(Column::metadata).collect(toImmutableList()),
            Map.of(),
            Optional.of("The last %s queries that read cachedhive catalogs, since the coordinator started".formatted(QueryRecorder.MAX_QUERIES)));

    private final QueryRecorder recorder;
    private final AccessControl accessControl;

    @Inject
    QueriesTable(QueryRecorder recorder, AccessControl accessControl)
    {
        this.recorder = requireNonNull(recorder, "recorder is null");
        this.accessControl = requireNonNull(accessControl, "accessControl is null");
    }

    /**
     * @param value null for NULL
     */
    private record Column(ColumnMetadata metadata, Function<QueryRecord, Object> value) {}

    private static Column column(String name, Type type, String comment, Function<QueryRecord, Object> value)
    {
        return new Column(ColumnMetadata.builder().setName(name).setType(type).setComment(Optional.of(comment)).build(), value);
    }

    private static Column metric(String name, String comment)
    {
        return column(name, BIGINT, comment, query -> query.metric(name));
    }

    private static Column wait(String source, String comment)
    {
        return column(source + "_wait_seconds", DOUBLE, comment + ", the sum over all splits", query -> query.waitSeconds(source));
    }

    @Override
    public Distribution getDistribution()
    {
        return SINGLE_COORDINATOR;
    }

    @Override
    public ConnectorTableMetadata getTableMetadata()
    {
        return METADATA;
    }

    @Override
    public RecordCursor cursor(ConnectorTransactionHandle transaction, ConnectorSession session, TupleDomain<Integer> constraint)
    {
        Identity reader = ((FullConnectorSession) session).getSession().getIdentity();
        List<QueryRecord> queries = recorder.queries();
        Collection<Identity> owners = accessControl.filterQueriesOwnedBy(reader, queries.stream()
                .map(QueryRecord::owner)
                .filter(owner -> !owner.getUser().equals(reader.getUser()))
                .distinct()
                .collect(toImmutableList()));
        List<List<Object>> rows = new ArrayList<>();
        for (QueryRecord query : queries) {
            if (query.owner().getUser().equals(reader.getUser()) || owners.contains(query.owner())) {
                List<Object> row = new ArrayList<>(COLUMNS.size());
                COLUMNS.forEach(column -> row.add(column.value().apply(query)));
                rows.add(row);
            }
        }
        return new InMemoryRecordSet(COLUMNS.stream().map(column -> column.metadata().getType()).collect(toImmutableList()), rows).cursor();
    }
}
