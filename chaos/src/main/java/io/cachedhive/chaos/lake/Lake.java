package io.cachedhive.chaos.lake;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.chaos.rows.ChaosRows;
import io.cachedhive.chaos.rows.FileHistory;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.s3.S3Service;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

import static io.cachedhive.testing.cluster.Cluster.BUCKET;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * The tables: those that stay as they are, in schema {@code chaos}, and those whose files are replaced. All of them have the rows of {@link ChaosRows}.
 */
public final class Lake
        implements AutoCloseable
{
    public static final String SCHEMA = "chaos";
    public static final int LARGE_ROWS = 30_000;
    public static final int PARTITIONED_ROWS = 4_000;
    public static final int BUCKETED_ROWS = 8_000;
    public static final int PARTITIONS = 8;

    /** Format of the moving table with {@link #STREAMED_FILE}. */
    public static final TableFormat STREAMED_FORMAT = TableFormat.TEXTFILE;
    /** A file that is read piece by piece, from its begin to its end. */
    public static final String STREAMED_FILE = "streamed";

    private static final String STAGE = "chaos_stage";
    private static final String MOVING_DIRECTORY = "moving/";
    // in one split and, for ORC and Parquet, one GET of plain Hive: several GETs may see several states
    private static final int LARGE_MOVING_ROWS = 16_000;
    private static final int SMALL_MOVING_ROWS = 500;
    private static final Map<String, Integer> MOVING_FILES = ImmutableMap.of("large", LARGE_MOVING_ROWS, "small", SMALL_MOVING_ROWS, "tiny", 100);
    // above the 8 MB up to which Trino reads a file of lines into memory as a whole
    private static final int STREAMED_ROWS = 100_000;

    private final S3Service s3;
    private final S3Client client;
    private final Map<String, byte[]> bytes;
    private final List<MovingTable> movingTables;
    private final List<String> steadyTables;

    private Lake(S3Service s3, S3Client client, Map<String, byte[]> bytes, List<MovingTable> movingTables, List<String> steadyTables)
    {
        this.s3 = requireNonNull(s3, "s3 is null");
        this.client = requireNonNull(client, "client is null");
        this.bytes = Map.copyOf(bytes);
        this.movingTables = List.copyOf(movingTables);
        this.steadyTables = List.copyOf(steadyTables);
    }

    /** Creates all tables through plain Hive. */
    public static Lake create(Cluster cluster, Consumer<String> progress)
            throws SQLException
    {
        S3Client client = cluster.s3().client();
        Map<String, byte[]> bytes = new HashMap<>();
        List<MovingTable> movingTables = new ArrayList<>();
        List<String> steadyTables = new ArrayList<>();
        try (SqlConnection connection = SqlConnection.open(cluster.coordinator().httpUri(), "chaos", Optional.of("hive"), Optional.of(SCHEMA))) {
            connection.setSession("scale_writers", "false");
            connection.setSession("task_min_writer_count", "1");
            connection.query("CREATE SCHEMA hive." + SCHEMA);
            connection.query("CREATE SCHEMA hive." + STAGE);
            for (TableFormat format : TableFormat.values()) {
                progress.accept("creating tables of format " + format);
                steadyTables.addAll(createSteady(connection, format));
                stage(connection, client, format, bytes);
                movingTables.add(createMoving(connection, client, format, bytes));
            }
        }
        return new Lake(cluster.s3(), client, bytes, movingTables, steadyTables);
    }

    private static List<String> createSteady(SqlConnection connection, TableFormat format)
            throws SQLException
    {
        List<String> tables = new ArrayList<>();
        String large = "large_" + format.text();
        connection.setSession("hive.compression_codec", "NONE");
        connection.query("CREATE TABLE %s WITH (format = '%s') AS %s".formatted(large, format, ChaosRows.source(large, 0, LARGE_ROWS)));
        tables.add(large);
        connection.setSession("hive.compression_codec", "GZIP");
        String partitioned = "parts_" + format.text();
        connection.query(
                """
                CREATE TABLE %s WITH (format = '%s', partitioned_by = ARRAY['part']) AS
                SELECT *, 'p' || CAST(CAST(line AS integer) %% %s AS varchar) part FROM (%s)
                """.formatted(partitioned, format, PARTITIONS, ChaosRows.source(partitioned, 0, PARTITIONED_ROWS)));
        tables.add(partitioned);
        if (format == TableFormat.ORC || format == TableFormat.PARQUET || format == TableFormat.TEXTFILE) {
            String bucketed = "buckets_" + format.text();
            connection.query("CREATE TABLE %s WITH (format = '%s', bucketed_by = ARRAY['line'], bucket_count = 4) AS %s".formatted(
                    bucketed,
                    format,
                    ChaosRows.source(bucketed, 0, BUCKETED_ROWS)));
            tables.add(bucketed);
        }
        return tables;
    }

    /** Makes the bytes of each file of a moving table in each state. */
    private static void stage(SqlConnection connection, S3Client client, TableFormat format, Map<String, byte[]> bytes)
            throws SQLException
    {
        String table = "%s.stage_%s".formatted(STAGE, format.text());
        List<String> sources = new ArrayList<>();
        movingFiles(format).forEach((file, rows) -> {
            for (int state = 0; state < ChaosRows.STATES; state++) {
                sources.add(ChaosRows.source(fileName(format, file), state, ChaosRows.rowCount(rows, state)));
            }
        });
        connection.setSession("hive.compression_codec", "NONE");
        connection.query(
                """
                CREATE TABLE hive.%s WITH (format = '%s', partitioned_by = ARRAY['of_file', 'in_state']) AS
                SELECT *, file_name of_file, state in_state FROM (%s)
                """.formatted(table, format, String.join(" UNION ALL ", sources)));
        for (List<Object> row : connection.query("SELECT DISTINCT of_file, in_state, \"$path\" FROM hive." + table).rows()) {
            String key = ((String) row.get(2)).substring("s3://%s/".formatted(BUCKET).length());
            byte[] file = client.getObjectAsBytes(request -> request.bucket(BUCKET).key(key)).asByteArray();
            if (bytes.put(bytesKey((String) row.get(0), Integer.parseInt((String) row.get(1))), file) != null) {
                throw new IllegalStateException("the rows of file %s in state %s are in more than one file".formatted(row.get(0), row.get(1)));
            }
        }
    }

    private static MovingTable createMoving(SqlConnection connection, S3Client client, TableFormat format, Map<String, byte[]> bytes)
            throws SQLException
    {
        String table = "moving_" + format.text();
        Map<String, FileHistory> files = new LinkedHashMap<>();
        movingFiles(format).forEach((file, rows) -> {
            client.putObject(request -> request.bucket(BUCKET).key(key(table, file)), RequestBody.fromBytes(bytes.get(bytesKey(fileName(format, file), 0))));
            files.put(file, new FileHistory(fileName(format, file), rows, 0));
        });
        connection.query("CREATE TABLE %s (%s) WITH (format = '%s', external_location = 's3://%s/%s%s')".formatted(
                table,
                ChaosRows.COLUMNS,
                format,
                BUCKET,
                MOVING_DIRECTORY,
                table));
        return new MovingTable(table, format, files);
    }

    private static Map<String, Integer> movingFiles(TableFormat format)
    {
        if (format != STREAMED_FORMAT) {
            return MOVING_FILES;
        }
        return ImmutableMap.<String, Integer>builder().putAll(MOVING_FILES).put(STREAMED_FILE, STREAMED_ROWS).buildOrThrow();
    }

    private static String fileName(TableFormat format, String file)
    {
        return file + "-" + format.text();
    }

    private static String bytesKey(String fileName, int state)
    {
        return fileName + "/" + state;
    }

    private static String key(String table, String file)
    {
        return MOVING_DIRECTORY + table + "/" + file;
    }

    public List<MovingTable> movingTables()
    {
        return movingTables;
    }

    public List<String> steadyTables()
    {
        return steadyTables;
    }

    /** The object's key in the bucket. */
    public String key(MovingTable table, String file)
    {
        return key(table.name(), file);
    }

    /** States in which the file has the same length as in this one, without it. */
    public List<Integer> statesOfSameLength(MovingTable table, String file, int state)
    {
        return states(table, file, state, true);
    }

    /** States in which the file has another length than in this one. */
    public List<Integer> statesOfOtherLength(MovingTable table, String file, int state)
    {
        return states(table, file, state, false);
    }

    private List<Integer> states(MovingTable table, String file, int state, boolean sameLength)
    {
        List<Integer> states = new ArrayList<>();
        for (int other = 0; other < ChaosRows.STATES; other++) {
            if (other != state && (length(table, file, other) == length(table, file, state)) == sameLength) {
                states.add(other);
            }
        }
        return states;
    }

    private int length(MovingTable table, String file, int state)
    {
        return bytes.get(bytesKey(table.files().get(file).name(), state)).length;
    }

    /** Which formats have states of the same length, for a person. */
    public String formatsOfSameLength()
    {
        return movingTables.stream()
                .filter(table -> table.keys().stream().anyMatch(file -> !statesOfSameLength(table, file, 0).isEmpty()))
                .map(table -> table.format().text())
                .collect(joining(", "));
    }

    /** Writes a file in a state; returns when it is written. */
    public void put(MovingTable table, String file, int state)
    {
        put(table, file, state, Optional.empty());
    }

    /** Writes a file in a state and sets its last-modified time; returns when both are done. */
    public void put(MovingTable table, String file, int state, Instant lastModified)
    {
        put(table, file, state, Optional.of(lastModified));
    }

    private void put(MovingTable table, String file, int state, Optional<Instant> lastModified)
    {
        FileHistory history = table.files().get(file);
        byte[] content = bytes.get(bytesKey(history.name(), state));
        history.beginChange(OptionalInt.of(state));
        untilDone(() -> client.putObject(request -> request.bucket(BUCKET).key(key(table, file)), RequestBody.fromBytes(content)));
        lastModified.ifPresent(time -> s3.setLastModified(BUCKET, key(table, file), time));
        history.endChange();
    }

    public void delete(MovingTable table, String file)
    {
        FileHistory history = table.files().get(file);
        history.beginChange(OptionalInt.empty());
        untilDone(() -> client.deleteObject(request -> request.bucket(BUCKET).key(key(table, file))));
        history.endChange();
    }

    /** The time of an object, in whole seconds. */
    public Instant lastModified(MovingTable table, String file)
    {
        Instant[] time = new Instant[1];
        untilDone(() -> time[0] = client.headObject(request -> request.bucket(BUCKET).key(key(table, file))).lastModified());
        return time[0];
    }

    // the S3 server may be in trouble too, until the end of that fault
    private static void untilDone(Runnable request)
    {
        while (true) {
            try {
                request.run();
                return;
            }
            catch (SdkException e) {
                if (Thread.currentThread().isInterrupted()) {
                    throw e;
                }
            }
        }
    }

    @Override
    public void close()
    {
        client.close();
    }
}
