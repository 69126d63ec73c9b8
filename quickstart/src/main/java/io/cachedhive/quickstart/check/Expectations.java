package io.cachedhive.quickstart.check;

import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.statistics.BytesBySource;
import io.cachedhive.testing.cluster.tpch.ResultComparison;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toMap;

/**
 * What must hold of the runs. Each is reported when it is looked at, and those that do not hold are kept with what was expected and seen.
 */
public final class Expectations
{
    private static final int EXAMPLES = 5;

    private final Consumer<String> report;
    private final List<String> failures = new ArrayList<>();
    private int count;

    public Expectations(Consumer<String> report)
    {
        this.report = requireNonNull(report, "report is null");
    }

    public List<String> failures()
    {
        return List.copyOf(failures);
    }

    /// How many were looked at.
    public int count()
    {
        return count;
    }

    /// Every query returns the rows of the same query in the other run.
    public void sameRows(WorkloadRun expected, WorkloadRun actual)
    {
        Map<QueryTask, QueryRun> expectedRuns = expected.queries().stream().collect(toMap(QueryRun::task, Function.identity()));
        List<String> differences = new ArrayList<>();
        for (QueryRun run : actual.queries()) {
            QueryRun expectedRun = expectedRuns.get(run.task());
            if (expectedRun == null) {
                throw new IllegalArgumentException("%s has no %s to compare with".formatted(expected.name(), run.task().name()));
            }
            ResultComparison.difference(expectedRun.result(), run.result(), run.task().query().orderBy(), run.task().query().limit())
                    .ifPresent(difference -> differences.add(run.task().name() + ": " + difference));
        }
        holds(
                differences.isEmpty(),
                actual.name() + ": the rows of " + expected.name(),
                "%s queries return them".formatted(actual.queries().size()),
                "%s do not: %s".formatted(differences.size(), String.join("; ", differences)));
    }

    /// The comparison of rows means something only if there are some.
    public void hasRows(WorkloadRun run)
    {
        long rows = run.queries().stream().mapToLong(query -> query.result().rows().size()).sum();
        List<String> empty = run.queries().stream().filter(query -> query.result().rows().isEmpty()).map(query -> query.task().name()).toList();
        // at small scales a few of the 22 find nothing
        holds(
                empty.size() <= run.queries().size() / 4,
                run.name() + ": most queries return rows",
                "%s rows of %s queries".formatted(rows, run.queries().size()),
                "no rows of " + empty);
    }

    /// The S3 server saw no GET and no HEAD of a data file.
    public void noDataFileRequests(WorkloadRun run)
    {
        List<S3Request> requests = run.dataFileRequests();
        holds(
                requests.isEmpty(),
                run.name() + ": 0 GET and 0 HEAD of data files",
                "none",
                "%s, such as %s".formatted(requests.size(), requests.stream().limit(EXAMPLES).map(Expectations::describe).collect(joining(", "))));
    }

    /// The S3 server saw GETs of data files: without any, a run that later makes none would prove nothing.
    public void someDataFileGets(WorkloadRun run)
    {
        long gets = run.dataFileRequests().stream().filter(S3Request::isGet).count();
        holds(gets > 0, run.name() + ": GETs of data files", "%s GETs".formatted(gets), "none");
    }

    /// The S3 server saw the same listings in both runs.
    public void sameLists(WorkloadRun expected, WorkloadRun actual)
    {
        Map<String, Long> expectedLists = listCounts(expected);
        Map<String, Long> actualLists = listCounts(actual);
        TreeSet<String> prefixes = new TreeSet<>(expectedLists.keySet());
        prefixes.addAll(actualLists.keySet());
        List<String> differences = prefixes.stream()
                .filter(prefix -> !expectedLists.getOrDefault(prefix, 0L).equals(actualLists.getOrDefault(prefix, 0L)))
                .map(prefix -> "%s %s times instead of %s".formatted(prefix, actualLists.getOrDefault(prefix, 0L), expectedLists.getOrDefault(prefix, 0L)))
                .toList();
        holds(
                differences.isEmpty(),
                actual.name() + ": the LISTs of " + expected.name(),
                "%s LISTs".formatted(actual.lists().size()),
                "%s LISTs where %s were expected: %s".formatted(
                        actual.lists().size(),
                        expected.lists().size(),
                        differences.stream().limit(EXAMPLES).collect(joining(", "))));
    }

    /// Every byte requested is counted once, as one of the five sources.
    public void sourcesSumToRequested(WorkloadRun run)
    {
        BytesBySource bytes = bytes(run);
        holds(
                bytes.requested() > 0 && bytes.served() == bytes.requested(),
                run.name() + ": bytes by source sum to the bytes requested",
                "%s bytes".formatted(bytes.requested()),
                "%s bytes requested, but %s by source: %s".formatted(bytes.requested(), bytes.served(), bytes));
    }

    /// At most that share of the bytes came from other hosts' cache workers.
    public void nonLocalAtMost(WorkloadRun run, double share)
    {
        BytesBySource bytes = bytes(run);
        double seen = bytes.nonLocalShare().orElse(1);
        holds(
                seen <= share,
                "%s: non-local bytes at most %.0f %%".formatted(run.name(), 100 * share),
                "%.2f %%".formatted(100 * seen),
                "%.2f %%: %s".formatted(100 * seen, bytes));
    }

    /// Some bytes came from other hosts' cache workers.
    public void someNonLocal(WorkloadRun run)
    {
        BytesBySource bytes = bytes(run);
        holds(bytes.nonLocalHit() > 0, run.name() + ": non-local hits", "%s bytes".formatted(bytes.nonLocalHit()), "none: " + bytes);
    }

    /// Nothing was read from the origin, neither to fill nor beside the cache.
    public void allFromCache(WorkloadRun run)
    {
        BytesBySource bytes = bytes(run);
        holds(
                bytes.remoteRead() == 0 && bytes.bypass() == 0,
                run.name() + ": no remote read and no bypass",
                "hit rate %.4f".formatted(bytes.hitRate().orElse(0)),
                "%s bytes read to fill and %s beside the cache: %s".formatted(bytes.remoteRead(), bytes.bypass(), bytes));
    }

    /// There is nothing wrong with something.
    ///
    /// @param problems a sentence each
    public void noProblems(String what, List<String> problems)
    {
        holds(problems.isEmpty(), what, "no problem", "%s problems: %s".formatted(problems.size(), String.join("; ", problems)));
    }

    private void holds(boolean condition, String what, String seen, String seenInstead)
    {
        count++;
        if (condition) {
            report.accept("ok      %s (%s)".formatted(what, seen));
        }
        else {
            String failure = "expected %s; seen: %s".formatted(what, seenInstead);
            failures.add(failure);
            report.accept("FAILED  " + failure);
        }
    }

    private static BytesBySource bytes(WorkloadRun run)
    {
        return run.bytes().orElseThrow(() -> new IllegalArgumentException(run.name() + " has no counts of the cache"));
    }

    private static Map<String, Long> listCounts(WorkloadRun run)
    {
        return run.lists().stream().collect(groupingBy(
                request -> request.bucket().orElse("") + "/" + request.listPrefix().orElse(""),
                TreeMap::new,
                counting()));
    }

    private static String describe(S3Request request)
    {
        return "%s %s/%s%s by %s".formatted(
                request.method(),
                request.bucket().orElse(""),
                request.key().orElse(""),
                request.range().map(range -> " " + range).orElse(""),
                Optional.of(request.userAgent()).filter(agent -> !agent.isEmpty()).map(agent -> agent.substring(0, Math.min(60, agent.length()))).orElse("unknown"));
    }
}
