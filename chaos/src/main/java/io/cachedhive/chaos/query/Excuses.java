package io.cachedhive.chaos.query;

import io.cachedhive.chaos.lake.MovingTable;
import io.cachedhive.chaos.rows.FileHistory.Possible;
import io.cachedhive.chaos.schedule.FaultKind;

import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Decides why a query failed, from its message and what happened while it ran.
 */
final class Excuses
{
    private static final String REPLACED = "was replaced while it was read: run the query again";
    // what Trino says of an RCFile that was deleted after it was listed: without its name
    private static final String DELETED = "File does not exist";
    // Trino reads a small Parquet file as the last bytes of the listed length, which are shifted in a file that has become longer; its reader does not name the file
    private static final String SHIFTED_PARQUET = "can not read class org.apache.parquet.format.";
    private static final Pattern LOST_WORKER = Pattern.compile(
            "too many errors talking to a worker node|Could not communicate with the remote task|The node may have crashed|no longer active|No nodes available|" +
                    "Insufficient active worker nodes|Remote task|remote task|Expected response code|/v1/task|Error closing remote buffer|Connection refused|worker node",
            Pattern.CASE_INSENSITIVE);
    private static final Pattern S3_REQUEST = Pattern.compile(
            "Service: S3|S3Exception|S3 server|SdkClient|Unable to execute HTTP|Status Code: 5|SlowDown|reduce your request rate|" +
                    "Connection reset|timed out|closed by|Premature end|canceled|" +
                    // the metastore's files are in S3, too, and this sentence of Trino has no cause
                    "The following metastore delete operations failed",
            Pattern.CASE_INSENSITIVE);

    private Excuses() {}

    /**
     * @param table that the query read, if its files are replaced
     * @return empty if it takes a run with plain Hive to decide
     */
    static Optional<Outcome> of(String message, Optional<MovingTable> table, List<FaultKind> faults, long fromNanos, long toNanos)
    {
        if (message.contains(REPLACED)) {
            // the message names the file, and that file was replaced
            return Optional.of(table.isPresent() && changedFiles(table.get(), message, fromNanos, toNanos) ? Outcome.REPLACED : Outcome.FAILED);
        }
        if (table.isPresent() && message.contains(table.get().name()) && changed(table.get(), fromNanos, toNanos)) {
            return Optional.of(Outcome.AS_PLAIN);
        }
        if (table.isPresent() && message.contains(DELETED) && anyFile(table.get(), Possible::absent, fromNanos, toNanos)) {
            return Optional.of(Outcome.AS_PLAIN);
        }
        if (table.isPresent() && message.contains(SHIFTED_PARQUET) && anyFile(table.get(), Possible::lengthChanged, fromNanos, toNanos)) {
            return Optional.of(Outcome.AS_PLAIN);
        }
        if (faults.contains(FaultKind.TRINO_WORKER_KILLED) && LOST_WORKER.matcher(message).find()) {
            return Optional.of(Outcome.AS_PLAIN);
        }
        return Optional.empty();
    }

    /**
     * Whether a query may have failed because of the S3 server, although plain Hive succeeds a moment later.
     */
    static boolean isOfS3(String message, List<FaultKind> faults)
    {
        return faults.stream().anyMatch(FaultKind::failsS3Requests) && S3_REQUEST.matcher(message).find();
    }

    private static boolean changedFiles(MovingTable table, String message, long fromNanos, long toNanos)
    {
        return table.files().entrySet().stream()
                .filter(file -> message.contains("/%s/%s ".formatted(table.name(), file.getKey())))
                .anyMatch(file -> isChanged(file.getValue().between(fromNanos, toNanos)));
    }

    private static boolean changed(MovingTable table, long fromNanos, long toNanos)
    {
        return anyFile(table, Excuses::isChanged, fromNanos, toNanos);
    }

    private static boolean anyFile(MovingTable table, Predicate<Possible> condition, long fromNanos, long toNanos)
    {
        return table.files().values().stream().anyMatch(file -> condition.test(file.between(fromNanos, toNanos)));
    }

    private static boolean isChanged(Possible possible)
    {
        return possible.changed() || !possible.settled();
    }
}
