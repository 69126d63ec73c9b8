package io.cachedhive.benchmark.queries;

import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static com.google.common.io.MoreFiles.deleteRecursively;
import static com.google.common.io.RecursiveDeleteOption.ALLOW_INSECURE;
import static java.util.Objects.requireNonNull;

/**
 * Tables whose files no cache has seen: copies of the base tables under other names, as hard links in the directory of the object store. Their files are as old
 * as the originals.
 */
final class TableCopies
{
    private static final String BASE = "warehouse";
    private static final String COPIES = "copies";
    private static final Pattern CREATE = Pattern.compile("CREATE TABLE [^(]*\\(");
    private static final Pattern WITH = Pattern.compile("\\nWITH \\(");

    private final QueryCluster cluster;
    private final Scale scale;

    TableCopies(QueryCluster cluster, Scale scale)
    {
        this.cluster = requireNonNull(cluster, "cluster is null");
        this.scale = requireNonNull(scale, "scale is null");
    }

    /**
     * Writes those of the base tables that are not there.
     */
    void writeBase(SqlConnection connection, List<BaseTable> tables)
            throws SQLException
    {
        String catalog = Contender.HIVE.catalog(false);
        for (BaseTable table : tables) {
            connection.query("CREATE SCHEMA IF NOT EXISTS %s.%s WITH (location = '%s')".formatted(catalog, table.schema(), baseLocation(table.schema())));
            if (connection.query("SHOW TABLES FROM %s.%s LIKE '%s'".formatted(catalog, table.schema(), table.name())).rows().isEmpty()) {
                table.write(connection, scale);
            }
        }
    }

    private static String baseLocation(String schema)
    {
        return "s3://%s/%s/%s".formatted(Cluster.BUCKET, BASE, schema);
    }

    /**
     * Copies tables into two new schemas: {@code name}, whose files are in the object store, and {@code name_local}, the same files as a local disk has them.
     */
    void create(SqlConnection connection, String name, List<BaseTable> tables)
            throws IOException, SQLException
    {
        String catalog = Contender.HIVE.catalog(false);
        for (BaseTable table : tables) {
            link(
                    cluster.objects().resolve(BASE).resolve(table.schema()).resolve(table.name()),
                    cluster.objects().resolve(COPIES).resolve(name).resolve(table.copyName()),
                    table.copies());
        }
        for (boolean local : new boolean[] {false, true}) {
            String schema = schema(name, local);
            String root = local ? "local:///%s/%s".formatted(COPIES, name) : "s3://%s/%s/%s".formatted(Cluster.BUCKET, COPIES, name);
            String writer = local ? Contender.LOCAL.catalog(false) : catalog;
            // a metastore of files has no schemas elsewhere
            connection.query("CREATE SCHEMA %s.%s".formatted(writer, schema) + (local ? "" : " WITH (location = '%s')".formatted(root)));
            for (BaseTable table : tables) {
                String definition = (String) connection.query("SHOW CREATE TABLE %s.%s.%s".formatted(catalog, table.schema(), table.name())).onlyValue();
                connection.query(copyOf(definition, "%s.%s.%s".formatted(writer, schema, table.copyName()), root + "/" + table.copyName()));
                if (definition.contains("partitioned_by")) {
                    connection.setCatalogAndSchema(writer, schema);
                    connection.query("CALL %s.system.sync_partition_metadata('%s', '%s', 'ADD')".formatted(writer, schema, table.copyName()));
                }
                connection.query("ANALYZE %s.%s.%s".formatted(writer, schema, table.copyName()));
            }
        }
    }

    /**
     * The schema in which a contender finds the copies.
     */
    static String schema(String name, boolean local)
    {
        return local ? name + "_local" : name;
    }

    /**
     * Turns the definition of a managed table into that of an external one.
     */
    static String copyOf(String definition, String table, String location)
    {
        String renamed = CREATE.matcher(definition).replaceFirst(Matcher.quoteReplacement("CREATE TABLE %s (".formatted(table)));
        return WITH.matcher(renamed).replaceFirst(Matcher.quoteReplacement("\nWITH (\n   external_location = '%s',".formatted(location)));
    }

    private static void link(Path from, Path to, int copies)
            throws IOException
    {
        List<Path> files = new ArrayList<>();
        try (Stream<Path> walk = Files.walk(from)) {
            walk.filter(Files::isRegularFile).forEach(files::add);
        }
        for (Path file : files) {
            Path target = to.resolve(from.relativize(file).toString());
            Files.createDirectories(target.getParent());
            for (int copy = 0; copy < copies; copy++) {
                Files.createLink(target.resolveSibling("%s-%s".formatted(copy, target.getFileName())), file);
            }
        }
    }

    /**
     * Drops what an interrupted benchmark left.
     */
    void dropAll(SqlConnection connection)
            throws IOException, SQLException
    {
        Path copies = cluster.objects().resolve(COPIES);
        if (!Files.exists(copies)) {
            return;
        }
        List<String> names;
        try (Stream<Path> found = Files.list(copies)) {
            names = found.map(path -> path.getFileName().toString()).toList();
        }
        for (String name : names) {
            drop(connection, name);
        }
    }

    /**
     * Drops copies, and deletes their files.
     */
    void drop(SqlConnection connection, String name)
            throws IOException, SQLException
    {
        connection.query("DROP SCHEMA IF EXISTS %s.%s CASCADE".formatted(Contender.HIVE.catalog(false), schema(name, false)));
        connection.query("DROP SCHEMA IF EXISTS %s.%s CASCADE".formatted(Contender.LOCAL.catalog(false), schema(name, true)));
        Path files = cluster.objects().resolve(COPIES).resolve(name);
        if (Files.exists(files)) {
            deleteRecursively(files, ALLOW_INSECURE);
        }
    }
}
