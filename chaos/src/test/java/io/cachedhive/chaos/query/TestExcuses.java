package io.cachedhive.chaos.query;

import io.cachedhive.chaos.lake.MovingTable;
import io.cachedhive.chaos.lake.TableFormat;
import io.cachedhive.chaos.rows.ChaosRows;
import io.cachedhive.chaos.rows.FileHistory;
import io.cachedhive.chaos.schedule.FaultKind;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

import static org.assertj.core.api.Assertions.assertThat;

class TestExcuses
{
    private static final String REPLACED = "Query failed: file s3://lake/moving/moving_orc/small was replaced while it was read: run the query again";
    private static final String MALFORMED = "Malformed ORC file. Invalid postscript [s3://lake/moving/moving_orc/small]";
    private static final String LOST_WORKER = "Encountered too many errors talking to a worker node. The node may have crashed or be under too much load.";
    private static final String S3_UNAVAILABLE = "Error reading s3://lake/chaos/x: Please reduce your request rate. (Service: S3, Status Code: 503)";

    private final FileHistory small = new FileHistory("small-orc", 500, 0);
    private final FileHistory large = new FileHistory("large-orc", 16_000, 0);
    private final MovingTable table = new MovingTable("moving_orc", TableFormat.ORC, Map.of("small", small, "large", large));
    private final long start = System.nanoTime();

    @Test
    void testReplacedFile()
    {
        // neither without a replacement, nor after one of another file
        assertThat(excuse(REPLACED, Optional.of(table))).contains(Outcome.FAILED);
        replace(large);
        assertThat(excuse(REPLACED, Optional.of(table))).contains(Outcome.FAILED);
        replace(small);
        assertThat(excuse(REPLACED, Optional.of(table))).contains(Outcome.REPLACED);
        assertThat(excuse(REPLACED, Optional.empty())).contains(Outcome.FAILED);
        long later = System.nanoTime() + 1;
        assertThat(Excuses.of(REPLACED, Optional.of(table), List.of(), later, later + 1)).contains(Outcome.FAILED);
    }

    @Test
    void testOtherFailureOfReplacedFile()
    {
        assertThat(excuse(MALFORMED, Optional.of(table))).isEmpty();
        replace(small);
        assertThat(excuse(MALFORMED, Optional.of(table))).contains(Outcome.AS_PLAIN);
        assertThat(excuse("cache worker failed", Optional.of(table))).isEmpty();
    }

    @Test
    void testDeletedFile()
    {
        String deleted = "File does not exist";
        replace(small);
        assertThat(excuse(deleted, Optional.of(table))).isEmpty();
        small.beginChange(OptionalInt.empty());
        small.endChange();
        assertThat(excuse(deleted, Optional.of(table))).contains(Outcome.AS_PLAIN);
        assertThat(excuse(deleted, Optional.empty())).isEmpty();
    }

    @Test
    void testShiftedParquet()
    {
        String shifted = "java.io.IOException: can not read class org.apache.parquet.format.PageHeader: Required field 'uncompressed_page_size' was not found";
        // of the same length
        replace(small);
        assertThat(excuse(shifted, Optional.of(table))).isEmpty();
        small.beginChange(OptionalInt.of(ChaosRows.STATES - 1));
        small.endChange();
        assertThat(excuse(shifted, Optional.of(table))).contains(Outcome.AS_PLAIN);
        assertThat(excuse(shifted, Optional.empty())).isEmpty();
    }

    @Test
    void testFaultsThatPlainHiveFeelsToo()
    {
        assertThat(excuse(LOST_WORKER, Optional.empty())).isEmpty();
        assertThat(excuse(LOST_WORKER, Optional.empty(), FaultKind.CACHE_WORKER_KILLED)).isEmpty();
        assertThat(excuse(LOST_WORKER, Optional.empty(), FaultKind.TRINO_WORKER_KILLED)).contains(Outcome.AS_PLAIN);
        assertThat(excuse("java.lang.NullPointerException", Optional.empty(), FaultKind.S3_REFUSING, FaultKind.TRINO_WORKER_KILLED)).isEmpty();
    }

    @Test
    void testFailuresOfS3()
    {
        // it takes a run with plain Hive
        assertThat(excuse(S3_UNAVAILABLE, Optional.empty(), FaultKind.S3_REFUSING)).isEmpty();
        assertThat(Excuses.isOfS3(S3_UNAVAILABLE, List.of(FaultKind.S3_REFUSING))).isTrue();
        assertThat(Excuses.isOfS3(S3_UNAVAILABLE, List.of(FaultKind.S3_SLOW, FaultKind.TRINO_WORKER_KILLED))).isFalse();
        assertThat(Excuses.isOfS3("The following metastore delete operations failed: drop table chaos.written_3_17", List.of(FaultKind.S3_CUT))).isTrue();
        assertThat(Excuses.isOfS3("Malformed ORC file s3://lake/chaos/x", List.of(FaultKind.S3_REFUSING))).isFalse();
    }

    private Optional<Outcome> excuse(String message, Optional<MovingTable> table, FaultKind... faults)
    {
        return Excuses.of(message, table, List.of(faults), start, System.nanoTime());
    }

    private static void replace(FileHistory file)
    {
        file.beginChange(OptionalInt.of(1 - file.state()));
        file.endChange();
    }
}
