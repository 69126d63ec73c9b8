package io.cachedhive.engine;

import com.google.common.collect.ImmutableList;
import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Provider;
import com.google.inject.multibindings.Multibinder;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.type.Type;

import java.util.List;

import static com.google.inject.Scopes.SINGLETON;
import static com.google.inject.multibindings.Multibinder.newSetBinder;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;

/**
 * Adds the tables of the schema {@code cache} to the global {@code system} catalog.
 * The name of the catalog is their first column. Their columns are fixed here because the server must know them before it loads any catalog.
 */
public final class CacheSchemaModule
        implements Module
{
    static final ConnectorTableMetadata SUMMARY = table(
            "summary",
            column("mode", VARCHAR),
            column("workers", BIGINT),
            column("expected_workers", BIGINT),
            column("workers_with_problem", BIGINT),
            column("problem", VARCHAR),
            column("hit_rate_5_minutes", DOUBLE),
            column("hit_rate_1_hour", DOUBLE),
            column("hit_rate_24_hours", DOUBLE),
            column("ram_used_bytes", BIGINT),
            column("ram_capacity_bytes", BIGINT),
            column("ssd_used_bytes", BIGINT),
            column("ssd_capacity_bytes", BIGINT));

    static final ConnectorTableMetadata STATS = table(
            "stats",
            column("node_id", VARCHAR),
            column("host", VARCHAR),
            column("state", VARCHAR),
            column("problem", VARCHAR),
            column("since", TIMESTAMP_TZ_MILLIS),
            column("hit_rate", DOUBLE),
            column("requests", BIGINT),
            column("ram_hit_bytes", BIGINT),
            column("ssd_hit_bytes", BIGINT),
            column("non_local_hit_bytes", BIGINT),
            column("remote_read_bytes", BIGINT),
            column("bypass_bytes", BIGINT),
            column("ram_used_bytes", BIGINT),
            column("ssd_used_bytes", BIGINT));

    static final ConnectorTableMetadata NODES = table(
            "nodes",
            column("node_id", VARCHAR),
            column("address", VARCHAR),
            column("version", VARCHAR),
            column("epoch", VARCHAR),
            column("weight", BIGINT),
            column("ring_share", DOUBLE),
            column("zone", VARCHAR),
            column("uptime_seconds", DOUBLE),
            column("restored_blocks", BIGINT),
            column("state", VARCHAR));

    static final ConnectorTableMetadata RULES = table(
            "rules",
            column("number", BIGINT),
            column("name", VARCHAR),
            column("conditions", VARCHAR),
            column("action", VARCHAR),
            column("class", VARCHAR),
            column("ttl_seconds", DOUBLE),
            column("quota_bytes", BIGINT),
            column("matched_scans", BIGINT),
            column("matched_splits", BIGINT),
            column("matched_bytes", BIGINT),
            column("last_matched", TIMESTAMP_TZ_MILLIS),
            column("loaded", TIMESTAMP_TZ_MILLIS),
            column("problem", VARCHAR));

    static final ConnectorTableMetadata SIZING = table(
            "sizing",
            column("capacity_multiple", DOUBLE),
            column("capacity_bytes", BIGINT),
            column("predicted_hit_rate", DOUBLE),
            column("verdict", VARCHAR),
            column("requested_bytes", BIGINT),
            column("distinct_bytes", BIGINT),
            column("nodes", BIGINT));

    static final ConnectorTableMetadata PRELOADS = table(
            "preloads",
            column("job", VARCHAR),
            column("schedule", VARCHAR),
            column("schema_name", VARCHAR),
            column("table_name", VARCHAR),
            column("partition", VARCHAR),
            column("columns", VARCHAR),
            column("state", VARCHAR),
            column("done_bytes", BIGINT),
            column("remaining_bytes", BIGINT),
            column("failed_bytes", BIGINT),
            column("fetched_bytes", BIGINT),
            column("started", TIMESTAMP_TZ_MILLIS),
            column("ended", TIMESTAMP_TZ_MILLIS),
            column("problem", VARCHAR));

    static final ConnectorTableMetadata FILES = table(
            "files",
            column("file_path", VARCHAR),
            column("file_size", BIGINT),
            column("file_modified_time", TIMESTAMP_TZ_MILLIS),
            column("schema_name", VARCHAR),
            column("table_name", VARCHAR),
            column("cached_bytes", BIGINT),
            column("ram_bytes", BIGINT),
            column("ssd_bytes", BIGINT),
            column("class", VARCHAR),
            column("expiry", TIMESTAMP_TZ_MILLIS));

    static final ConnectorTableMetadata PINS = table(
            "pins",
            column("schema_name", VARCHAR),
            column("table_name", VARCHAR),
            column("partition", VARCHAR),
            column("location", VARCHAR),
            column("since", TIMESTAMP_TZ_MILLIS),
            column("cached_bytes", BIGINT),
            column("pinned_bytes", BIGINT),
            column("problem", VARCHAR));

    static final ConnectorTableMetadata TABLES = table(
            "tables",
            column("schema_name", VARCHAR),
            column("table_name", VARCHAR),
            column("files", BIGINT),
            column("cached_bytes", BIGINT),
            column("hit_rate", DOUBLE),
            column("requests", BIGINT),
            column("ram_hit_bytes", BIGINT),
            column("ssd_hit_bytes", BIGINT),
            column("non_local_hit_bytes", BIGINT),
            column("remote_read_bytes", BIGINT),
            column("bypass_bytes", BIGINT),
            column("saved_requests", BIGINT),
            column("saved_bytes", BIGINT),
            column("saved_cost", DOUBLE),
            column("spent_requests", BIGINT),
            column("spent_cost", DOUBLE));

    static final ConnectorTableMetadata PARTITIONS = table(
            "partitions",
            column("schema_name", VARCHAR),
            column("table_name", VARCHAR),
            column("partition", VARCHAR),
            column("files", BIGINT),
            column("cached_bytes", BIGINT));

    static final ConnectorTableMetadata EVENTS = table(
            "events",
            column("time", TIMESTAMP_TZ_MILLIS),
            column("type", VARCHAR),
            column("user", VARCHAR),
            column("query_id", VARCHAR),
            column("description", VARCHAR),
            column("outcome", VARCHAR),
            column("problem", VARCHAR));

    private static final List<ConnectorTableMetadata> ALL = List.of(SUMMARY, STATS, NODES, RULES, SIZING, PRELOADS, FILES, PINS, TABLES, PARTITIONS, EVENTS);

    private static ConnectorTableMetadata table(String name, ColumnMetadata... columns)
    {
        return new ConnectorTableMetadata(
                new SchemaTableName("cache", name),
                ImmutableList.<ColumnMetadata>builder()
                        .add(column("catalog_name", VARCHAR))
                        .add(columns)
                        .build());
    }

    private static ColumnMetadata column(String name, Type type)
    {
        return new ColumnMetadata(name, type);
    }

    @Override
    public void configure(Binder binder)
    {
        binder.bind(CachedHiveCatalogs.class).in(SINGLETON);
        Provider<CachedHiveCatalogs> catalogs = binder.getProvider(CachedHiveCatalogs.class);
        Multibinder<SystemTable> tables = newSetBinder(binder, SystemTable.class);
        for (ConnectorTableMetadata metadata : ALL) {
            Provider<SystemTable> table = () -> new CatalogUnionTable(metadata, catalogs.get());
            tables.addBinding().toProvider(table).in(SINGLETON);
        }
    }
}
