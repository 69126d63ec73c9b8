package io.cachedhive.quickstart.check;

import io.cachedhive.testing.cluster.s3.S3RequestCounts;
import io.cachedhive.testing.cluster.sql.ResultColumn;
import io.cachedhive.testing.cluster.sql.ResultText;
import io.cachedhive.testing.cluster.statistics.BytesBySource;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Runs side by side, for people.
 */
public final class RunReport
{
    private static final double MIB = 1 << 20;

    private RunReport() {}

    /// A row per query with the milliseconds of each run, and a sum.
    public static void printQueries(List<WorkloadRun> runs, Appendable out)
            throws IOException
    {
        List<ResultColumn> columns = new ArrayList<>(List.of(new ResultColumn("query", "varchar")));
        Set<QueryTask> tasks = new LinkedHashSet<>();
        for (WorkloadRun run : runs) {
            columns.add(new ResultColumn(run.name(), "bigint"));
            run.queries().forEach(query -> tasks.add(query.task()));
        }
        List<List<Object>> rows = new ArrayList<>();
        for (QueryTask task : tasks) {
            List<Object> row = new ArrayList<>(List.of(task.name()));
            for (WorkloadRun run : runs) {
                Optional<QueryRun> query = run.queries().stream().filter(candidate -> candidate.task().equals(task)).findFirst();
                row.add(query.<Object>map(found -> found.result().elapsedMillis()).orElse(""));
            }
            rows.add(row);
        }
        List<Object> sums = new ArrayList<>(List.of("all"));
        runs.forEach(run -> sums.add(run.queryMillis()));
        rows.add(sums);
        print(columns, rows, out);
    }

    /// A row per run with the requests that the S3 server saw and the bytes by source.
    public static void printTotals(List<WorkloadRun> runs, Appendable out)
            throws IOException
    {
        List<ResultColumn> columns = new ArrayList<>(List.of(new ResultColumn("run", "varchar")));
        for (String name : List.of("GET", "HEAD", "LIST", "GET MiB", "RAM MiB", "SSD MiB", "non-local MiB", "remote MiB", "bypass MiB", "hit rate")) {
            columns.add(new ResultColumn(name, "decimal"));
        }
        List<List<Object>> rows = new ArrayList<>();
        for (WorkloadRun run : runs) {
            S3RequestCounts counts = S3RequestCounts.of(run.dataFileRequests());
            List<Object> row = new ArrayList<>(List.of(run.name(), counts.gets(), counts.heads(), run.lists().size(), mebibytes(counts.getBytes())));
            if (run.bytes().isPresent()) {
                BytesBySource bytes = run.bytes().get();
                for (long value : List.of(bytes.ramHit(), bytes.ssdHit(), bytes.nonLocalHit(), bytes.remoteRead(), bytes.bypass())) {
                    row.add(mebibytes(value));
                }
                row.add(bytes.hitRate().isPresent() ? "%.4f".formatted(bytes.hitRate().getAsDouble()) : "");
            }
            while (row.size() < columns.size()) {
                row.add("");
            }
            rows.add(row);
        }
        print(columns, rows, out);
    }

    /// The figures of the last line.
    public static String figures(List<WorkloadRun> runs, double elapsedSeconds)
    {
        List<String> figures = new ArrayList<>();
        for (WorkloadRun run : runs) {
            figures.add("%s: %s queries %.1f s, %s GET".formatted(
                    run.name(),
                    run.queries().size(),
                    run.queryMillis() / 1000.0,
                    S3RequestCounts.of(run.dataFileRequests()).gets()));
        }
        figures.add("%.0f s in all".formatted(elapsedSeconds));
        return String.join("; ", figures);
    }

    private static String mebibytes(long bytes)
    {
        return "%.1f".formatted(bytes / MIB);
    }

    private static void print(List<ResultColumn> columns, List<List<Object>> rows, Appendable out)
            throws IOException
    {
        out.append(ResultText.format(columns, rows, Integer.MAX_VALUE));
    }
}
