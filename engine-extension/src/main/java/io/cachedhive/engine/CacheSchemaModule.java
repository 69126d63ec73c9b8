package io.cachedhive.engine;

import com.google.common.collect.ImmutableList;
import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Singleton;
import com.google.inject.multibindings.ProvidesIntoSet;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.SystemTable;

import static com.google.inject.Scopes.SINGLETON;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;

/**
 * Adds the tables of the schema {@code cache} to the global {@code system} catalog.
 * Their columns are fixed here because the server must know them before it loads any catalog.
 */
public final class CacheSchemaModule
        implements Module
{
    static final ConnectorTableMetadata STATS = new ConnectorTableMetadata(
            new SchemaTableName("cache", "stats"),
            ImmutableList.<ColumnMetadata>builder()
                    .add(new ColumnMetadata("catalog_name", VARCHAR))
                    .add(new ColumnMetadata("node_id", VARCHAR))
                    .add(new ColumnMetadata("host", VARCHAR))
                    .add(new ColumnMetadata("state", VARCHAR))
                    .add(new ColumnMetadata("problem", VARCHAR))
                    .add(new ColumnMetadata("since", TIMESTAMP_TZ_MILLIS))
                    .add(new ColumnMetadata("hit_rate", DOUBLE))
                    .add(new ColumnMetadata("requests", BIGINT))
                    .add(new ColumnMetadata("ram_hit_bytes", BIGINT))
                    .add(new ColumnMetadata("ssd_hit_bytes", BIGINT))
                    .add(new ColumnMetadata("non_local_hit_bytes", BIGINT))
                    .add(new ColumnMetadata("remote_read_bytes", BIGINT))
                    .add(new ColumnMetadata("bypass_bytes", BIGINT))
                    .add(new ColumnMetadata("ram_used_bytes", BIGINT))
                    .add(new ColumnMetadata("ssd_used_bytes", BIGINT))
                    .build());

    static final ConnectorTableMetadata NODES = new ConnectorTableMetadata(
            new SchemaTableName("cache", "nodes"),
            ImmutableList.<ColumnMetadata>builder()
                    .add(new ColumnMetadata("catalog_name", VARCHAR))
                    .add(new ColumnMetadata("node_id", VARCHAR))
                    .add(new ColumnMetadata("address", VARCHAR))
                    .add(new ColumnMetadata("version", VARCHAR))
                    .add(new ColumnMetadata("epoch", VARCHAR))
                    .add(new ColumnMetadata("weight", BIGINT))
                    .add(new ColumnMetadata("ring_share", DOUBLE))
                    .add(new ColumnMetadata("zone", VARCHAR))
                    .add(new ColumnMetadata("uptime_seconds", DOUBLE))
                    .add(new ColumnMetadata("restored_blocks", BIGINT))
                    .add(new ColumnMetadata("state", VARCHAR))
                    .build());

    static final ConnectorTableMetadata RULES = new ConnectorTableMetadata(
            new SchemaTableName("cache", "rules"),
            ImmutableList.<ColumnMetadata>builder()
                    .add(new ColumnMetadata("catalog_name", VARCHAR))
                    .add(new ColumnMetadata("number", BIGINT))
                    .add(new ColumnMetadata("name", VARCHAR))
                    .add(new ColumnMetadata("conditions", VARCHAR))
                    .add(new ColumnMetadata("action", VARCHAR))
                    .add(new ColumnMetadata("class", VARCHAR))
                    .add(new ColumnMetadata("ttl_seconds", DOUBLE))
                    .add(new ColumnMetadata("quota_bytes", BIGINT))
                    .add(new ColumnMetadata("matched_scans", BIGINT))
                    .add(new ColumnMetadata("matched_splits", BIGINT))
                    .add(new ColumnMetadata("matched_bytes", BIGINT))
                    .add(new ColumnMetadata("last_matched", TIMESTAMP_TZ_MILLIS))
                    .add(new ColumnMetadata("loaded", TIMESTAMP_TZ_MILLIS))
                    .add(new ColumnMetadata("problem", VARCHAR))
                    .build());

    static final ConnectorTableMetadata SIZING = new ConnectorTableMetadata(
            new SchemaTableName("cache", "sizing"),
            ImmutableList.<ColumnMetadata>builder()
                    .add(new ColumnMetadata("catalog_name", VARCHAR))
                    .add(new ColumnMetadata("capacity_multiple", DOUBLE))
                    .add(new ColumnMetadata("capacity_bytes", BIGINT))
                    .add(new ColumnMetadata("predicted_hit_rate", DOUBLE))
                    .add(new ColumnMetadata("verdict", VARCHAR))
                    .add(new ColumnMetadata("requested_bytes", BIGINT))
                    .add(new ColumnMetadata("different_bytes", BIGINT))
                    .add(new ColumnMetadata("nodes", BIGINT))
                    .build());

    static final ConnectorTableMetadata PRELOADS = new ConnectorTableMetadata(
            new SchemaTableName("cache", "preloads"),
            ImmutableList.<ColumnMetadata>builder()
                    .add(new ColumnMetadata("catalog_name", VARCHAR))
                    .add(new ColumnMetadata("job", VARCHAR))
                    .add(new ColumnMetadata("schema_name", VARCHAR))
                    .add(new ColumnMetadata("table_name", VARCHAR))
                    .add(new ColumnMetadata("partition", VARCHAR))
                    .add(new ColumnMetadata("columns", VARCHAR))
                    .add(new ColumnMetadata("state", VARCHAR))
                    .add(new ColumnMetadata("done_bytes", BIGINT))
                    .add(new ColumnMetadata("left_bytes", BIGINT))
                    .add(new ColumnMetadata("failed_bytes", BIGINT))
                    .add(new ColumnMetadata("fetched_bytes", BIGINT))
                    .add(new ColumnMetadata("started", TIMESTAMP_TZ_MILLIS))
                    .add(new ColumnMetadata("ended", TIMESTAMP_TZ_MILLIS))
                    .add(new ColumnMetadata("problem", VARCHAR))
                    .build());

    static final ConnectorTableMetadata FILES = new ConnectorTableMetadata(
            new SchemaTableName("cache", "files"),
            ImmutableList.<ColumnMetadata>builder()
                    .add(new ColumnMetadata("catalog_name", VARCHAR))
                    .add(new ColumnMetadata("file_path", VARCHAR))
                    .add(new ColumnMetadata("file_size", BIGINT))
                    .add(new ColumnMetadata("file_modified_time", TIMESTAMP_TZ_MILLIS))
                    .add(new ColumnMetadata("schema_name", VARCHAR))
                    .add(new ColumnMetadata("table_name", VARCHAR))
                    .add(new ColumnMetadata("cached_bytes", BIGINT))
                    .add(new ColumnMetadata("ram_bytes", BIGINT))
                    .add(new ColumnMetadata("ssd_bytes", BIGINT))
                    .add(new ColumnMetadata("class", VARCHAR))
                    .add(new ColumnMetadata("expiry", TIMESTAMP_TZ_MILLIS))
                    .build());

    static final ConnectorTableMetadata PINS = new ConnectorTableMetadata(
            new SchemaTableName("cache", "pins"),
            ImmutableList.<ColumnMetadata>builder()
                    .add(new ColumnMetadata("catalog_name", VARCHAR))
                    .add(new ColumnMetadata("schema_name", VARCHAR))
                    .add(new ColumnMetadata("table_name", VARCHAR))
                    .add(new ColumnMetadata("partition", VARCHAR))
                    .add(new ColumnMetadata("location", VARCHAR))
                    .add(new ColumnMetadata("since", TIMESTAMP_TZ_MILLIS))
                    .add(new ColumnMetadata("cached_bytes", BIGINT))
                    .add(new ColumnMetadata("pinned_bytes", BIGINT))
                    .build());

    static final ConnectorTableMetadata TABLES = new ConnectorTableMetadata(
            new SchemaTableName("cache", "tables"),
            ImmutableList.<ColumnMetadata>builder()
                    .add(new ColumnMetadata("catalog_name", VARCHAR))
                    .add(new ColumnMetadata("schema_name", VARCHAR))
                    .add(new ColumnMetadata("table_name", VARCHAR))
                    .add(new ColumnMetadata("partition", VARCHAR))
                    .add(new ColumnMetadata("files", BIGINT))
                    .add(new ColumnMetadata("cached_bytes", BIGINT))
                    .add(new ColumnMetadata("hit_rate", DOUBLE))
                    .add(new ColumnMetadata("requests", BIGINT))
                    .add(new ColumnMetadata("ram_hit_bytes", BIGINT))
                    .add(new ColumnMetadata("ssd_hit_bytes", BIGINT))
                    .add(new ColumnMetadata("non_local_hit_bytes", BIGINT))
                    .add(new ColumnMetadata("remote_read_bytes", BIGINT))
                    .add(new ColumnMetadata("bypass_bytes", BIGINT))
                    .add(new ColumnMetadata("saved_requests", BIGINT))
                    .add(new ColumnMetadata("saved_bytes", BIGINT))
                    .add(new ColumnMetadata("saved_cost", DOUBLE))
                    .build());

    @Override
    public void configure(Binder binder)
    {
        binder.bind(CachedHiveCatalogs.class).in(SINGLETON);
    }

    @ProvidesIntoSet
    @Singleton
    public static SystemTable createStats(CachedHiveCatalogs catalogs)
    {
        return new CatalogUnionTable(STATS, catalogs);
    }

    @ProvidesIntoSet
    @Singleton
    public static SystemTable createPins(CachedHiveCatalogs catalogs)
    {
        return new CatalogUnionTable(PINS, catalogs);
    }

    @ProvidesIntoSet
    @Singleton
    public static SystemTable createNodes(CachedHiveCatalogs catalogs)
    {
        return new CatalogUnionTable(NODES, catalogs);
    }

    @ProvidesIntoSet
    @Singleton
    public static SystemTable createRules(CachedHiveCatalogs catalogs)
    {
        return new CatalogUnionTable(RULES, catalogs);
    }

    @ProvidesIntoSet
    @Singleton
    public static SystemTable createSizing(CachedHiveCatalogs catalogs)
    {
        return new CatalogUnionTable(SIZING, catalogs);
    }

    @ProvidesIntoSet
    @Singleton
    public static SystemTable createFiles(CachedHiveCatalogs catalogs)
    {
        return new CatalogUnionTable(FILES, catalogs);
    }

    @ProvidesIntoSet
    @Singleton
    public static SystemTable createPreloads(CachedHiveCatalogs catalogs)
    {
        return new CatalogUnionTable(PRELOADS, catalogs);
    }

    @ProvidesIntoSet
    @Singleton
    public static SystemTable createTables(CachedHiveCatalogs catalogs)
    {
        return new CatalogUnionTable(TABLES, catalogs);
    }
}
