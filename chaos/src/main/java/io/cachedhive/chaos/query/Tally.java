package io.cachedhive.chaos.query;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.chaos.schedule.FaultKind;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * Counts queries by kind and outcome, and logs those that did not return right rows.
 */
public final class Tally
{
    private final Path log;
    private final Consumer<String> progress;

    @GuardedBy("this")
    private final Map<QueryKind, Map<Outcome, Integer>> counts = new EnumMap<>(QueryKind.class);
    @GuardedBy("this")
    private final List<String> failures = new ArrayList<>();

    public Tally(Path log, Consumer<String> progress)
    {
        this.log = requireNonNull(log, "log is null");
        this.progress = requireNonNull(progress, "progress is null");
    }

    public synchronized void add(QueryKind kind, Outcome outcome)
    {
        counts.computeIfAbsent(kind, _ -> new EnumMap<>(Outcome.class)).merge(outcome, 1, Integer::sum);
    }

    /**
     * @param faults that were active while the query ran
     */
    public synchronized void add(QueryKind kind, Outcome outcome, String sql, String message, List<FaultKind> faults)
    {
        add(kind, outcome);
        String text = "%s %s: %s\n  faults: %s\n  %s\n".formatted(
                LocalTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.MILLIS),
                outcome.text(),
                message,
                faults.stream().map(FaultKind::text).distinct().collect(joining(", ")),
                sql.strip().replaceAll("\\s+", " "));
        append(text);
        if (outcome == Outcome.FAILED || outcome == Outcome.WRONG) {
            addFailure(text);
        }
    }

    /** What is wrong beside queries: a process that ended or did not start, a cache that did not recover. */
    public synchronized void addFailure(String text)
    {
        failures.add(text);
        progress.accept(text);
        append(text + "\n");
    }

    private void append(String text)
    {
        try {
            Files.writeString(log, text, CREATE, APPEND);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public synchronized List<String> failures()
    {
        return List.copyOf(failures);
    }

    public synchronized int count(Outcome outcome)
    {
        return counts.values().stream().mapToInt(ofKind -> ofKind.getOrDefault(outcome, 0)).sum();
    }

    public synchronized int queries()
    {
        return counts.values().stream().flatMap(ofKind -> ofKind.values().stream()).mapToInt(Integer::intValue).sum();
    }

    public synchronized List<String> report()
    {
        Set<Outcome> outcomes = new LinkedHashSet<>(List.of(Outcome.values()));
        List<String> lines = new ArrayList<>();
        lines.add("%-10s%s".formatted("queries", outcomes.stream().map(outcome -> "%27s".formatted(outcome.text())).collect(joining())));
        counts.forEach((kind, ofKind) -> lines.add("%-10s%s".formatted(
                kind.text(),
                outcomes.stream().map(outcome -> "%27s".formatted(ofKind.getOrDefault(outcome, 0))).collect(joining()))));
        return lines;
    }
}
