package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.time.Duration;
import java.time.Instant;

/**
 * Waiting until files are so old that what is fetched of them is kept at once: younger ones might still change within the same second.
 */
final class OldFiles
{
    private static final Duration YOUTH = Duration.ofSeconds(4);

    private OldFiles() {}

    /**
     * @param table with its schema; it is read by plain Hive, so that nothing of it is cached
     */
    static void await(SqlConnection connection, String table)
            throws Exception
    {
        Object newest = connection.query("SELECT CAST(to_unixtime(max(\"$file_modified_time\")) AS bigint) FROM hive." + table).onlyValue();
        Instant old = Instant.ofEpochSecond((long) newest).plus(YOUTH);
        Await.until("files of " + table + " are old", YOUTH.multipliedBy(10), () -> Instant.now().isAfter(old));
    }
}
