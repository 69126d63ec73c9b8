package io.cachedhive.chaos.rows;

import io.cachedhive.chaos.rows.FileHistory.Possible;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static java.util.stream.Collectors.joining;

/**
 * Checks what a query saw of a table whose files are replaced meanwhile: for each file, all rows of one state that the file had while the query ran.
 */
public final class RowCheck
{
    private RowCheck() {}

    /**
     * @param seen result of {@link ChaosRows#check}
     * @param files of the table, by the last part of their paths
     * @param limit only rows with smaller numbers were requested
     * @return a sentence for each violation
     */
    public static List<String> violations(List<SeenFile> seen, Map<String, FileHistory> files, int limit, long fromNanos, long toNanos)
    {
        List<String> violations = new ArrayList<>();
        Map<String, SeenFile> byKey = new HashMap<>();
        for (SeenFile file : seen) {
            if (!files.containsKey(file.key())) {
                violations.add("a file that does not exist was read: " + file.path());
            }
            if (byKey.put(file.key(), file) != null) {
                violations.add("a file is twice in the result: " + file.path());
            }
        }
        files.forEach((key, history) -> {
            Possible possible = history.between(fromNanos, toNanos);
            SeenFile file = byKey.get(key);
            if (file == null) {
                if (!possible.absent()) {
                    violations.add("no row of file %s was returned".formatted(key));
                }
            }
            else {
                check(file, history, possible, limit, violations);
            }
        });
        return violations;
    }

    private static void check(SeenFile file, FileHistory history, Possible possible, int limit, List<String> violations)
    {
        if (file.wrongRows() > 0) {
            violations.add("file %s has %s damaged rows of %s: %s".formatted(file.key(), file.wrongRows(), file.rowCount(), file));
            return;
        }
        if (!file.name().lowest().equals(history.name()) || !file.name().highest().equals(history.name())) {
            violations.add("file %s has rows of another file: %s".formatted(file.key(), file));
            return;
        }
        if (!possible.settled()) {
            return;
        }
        if (!file.state().lowest().equals(file.state().highest())) {
            violations.add("file %s has rows of two states: %s".formatted(file.key(), file));
            return;
        }
        int state = Integer.parseInt(file.state().lowest());
        if (!possible.states().contains(state)) {
            violations.add("file %s has rows of state %s, but its states at that time were %s: %s".formatted(
                    file.key(),
                    state,
                    possible.states().stream().map(Object::toString).collect(joining(", ")),
                    file));
            return;
        }
        int expected = Math.min(history.rowCount(state), limit);
        boolean complete = file.rowCount() == expected && file.distinctLines() == expected && Integer.parseInt(file.lastLine()) == expected - 1;
        // who listed a shorter file reads a longer one up to that length, with plain Hive too
        boolean begin = possible.lengthChanged() && file.rowCount() < expected && file.distinctLines() == file.rowCount() && Integer.parseInt(file.lastLine()) < expected;
        if (!complete && !begin) {
            violations.add("file %s has %s rows in state %s, not %s: %s".formatted(file.key(), file.rowCount(), state, expected, file));
        }
    }
}
