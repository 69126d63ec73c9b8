package io.cachedhive.hive.connector;

import com.google.common.collect.ImmutableMap;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.procedure.Procedure;
import io.trino.testing.TestingConnectorContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_CLASS;

/**
 * {@code docs/sql.md} has every table, column, procedure and argument of the connector. That its statements do what they should is proven on a cluster, by
 * {@code bin/quickstart --check}.
 */
@TestInstance(PER_CLASS)
class TestSqlPage
{
    private static final Path PAGE = Path.of("..", "docs", "sql.md");
    // Trino's page of the Hive connector has these
    private static final Set<String> OF_HIVE = Set.of(
            "create_empty_partition",
            "drop_stats",
            "flush_metadata_cache",
            "register_partition",
            "sync_partition_metadata",
            "unregister_partition");

    private Connector connector;
    private List<String> lines;

    @BeforeAll
    void create(@TempDir Path directory)
            throws IOException
    {
        lines = Files.readAllLines(PAGE);
        connector = new CachedHiveConnectorFactory().create(
                "lake",
                ImmutableMap.<String, String>builder()
                        .put("hive.metastore", "file")
                        .put("hive.metastore.catalog.dir", "local:///warehouse")
                        .put("fs.local.enabled", "true")
                        .put("local.location", directory.toString())
                        .put("cachedhive.worker.socket-path", directory.resolve("nobody.sock").toString())
                        .put("cachedhive.shared-secret", "k7Jw2mQz9Xv4Lb8Tn3Rc6Yd1Hf5Gs0Pa")
                        .buildOrThrow(),
                new TestingConnectorContext());
    }

    @AfterAll
    void shutDown()
    {
        if (connector != null) {
            connector.shutdown();
        }
    }

    /**
     * From a heading up to the next one.
     */
    private List<String> section(String name)
    {
        int start = lines.indexOf("### `%s`".formatted(name));
        assertThat(start).as("heading ### `%s` in %s: it is made by bin/quickstart --sql-page", name, PAGE).isNotNegative();
        List<String> rest = lines.subList(start + 1, lines.size());
        return rest.subList(0, rest.stream().takeWhile(line -> !line.startsWith("#")).toList().size());
    }

    @Test
    void testTables()
    {
        Set<ConnectorTableMetadata> tables = connector.getSystemTables().stream()
                .map(SystemTable::getTableMetadata)
                .filter(table -> table.getTable().getSchemaName().equals("cache"))
                .collect(toSet());
        assertThat(tables).extracting(table -> table.getTable().getTableName())
                .contains("summary", "stats", "stats_detail", "nodes", "tables", "partitions", "files", "preloads", "pins", "rules", "sizing", "events");
        for (ConnectorTableMetadata table : tables) {
            String name = table.getTable().getTableName();
            List<String> section = section(name);
            for (ColumnMetadata column : table.getColumns()) {
                assertThat(section).as("columns of %s", name)
                        .contains("| `%s` | `%s` | %s |".formatted(column.getName(), column.getType().getDisplayName(), column.getComment().orElseThrow()));
            }
            assertThat(String.join("\n", section)).as("an example of %s", name).contains("FROM cachedhive.cache." + name);
        }
    }

    @Test
    void testProcedures()
    {
        Set<Procedure> procedures = connector.getProcedures().stream()
                .filter(procedure -> !OF_HIVE.contains(procedure.getName()))
                .collect(toSet());
        assertThat(procedures).extracting(Procedure::getName)
                .contains("preload_partition", "preload_table", "cancel_preload", "pin_partition", "unpin_partition", "flush_data_cache", "refresh_cache_rules", "set_cache_mode");
        for (Procedure procedure : procedures) {
            List<String> section = section(procedure.getName());
            String text = String.join("\n", section);
            assertThat(text).as("signature of %s", procedure.getName()).contains("`%s(%s)`".formatted(
                    procedure.getName(),
                    procedure.getArguments().stream().map(argument -> argument.getName().toLowerCase(Locale.ENGLISH)).collect(joining(", "))));
            assertThat(text).as("an example of %s", procedure.getName()).contains("CALL cachedhive.system.%s(".formatted(procedure.getName()));
            for (Procedure.Argument argument : procedure.getArguments()) {
                String fallback = argument.isRequired() ? "required" : argument.getDefaultValue() == null ? "NULL" : "`%s`".formatted(argument.getDefaultValue());
                assertThat(section).as("row of argument %s of %s", argument, procedure.getName())
                        .anyMatch(line -> line.contains("`%s`".formatted(argument.getName().toLowerCase(Locale.ENGLISH))) &&
                                line.contains("| `%s` | %s |".formatted(argument.getType().getDisplayName(), fallback)));
            }
        }
    }
}
