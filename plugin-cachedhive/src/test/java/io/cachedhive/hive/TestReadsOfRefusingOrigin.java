package io.cachedhive.hive;

import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.testing.cluster.s3.S3Faults;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.trino.filesystem.TrinoInput;
import io.trino.filesystem.TrinoInputFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An object store that refuses requests as too many: the same reads through Trino's S3 file system and through the cache.
 *
 * <p>The server refuses by the order in which requests arrive, from a seed: the same for both, so that it takes the same number of requests to make the same number
 * of reads, in whatever order.
 */
@Timeout(300)
@Tag("slow")
class TestReadsOfRefusingOrigin
{
    private static final int READERS = 32;
    private static final int LARGE_FILES = 6;
    private static final int LARGE_FILE_BYTES = 3 << 20;
    private static final int SMALL_FILE_BYTES = 50 << 10;
    private static final int READ_BYTES = 1 << 20;

    private final byte[] content = new byte[LARGE_FILE_BYTES];

    private static int length(int file)
    {
        return file < LARGE_FILES ? LARGE_FILE_BYTES : SMALL_FILE_BYTES;
    }

    private interface Opener
    {
        TrinoInput open(TrinoInputFile file)
                throws IOException;
    }

    /**
     * Reads all files, megabyte by megabyte; fails if one read does, or gets wrong bytes.
     *
     * @return what the server was asked
     */
    private List<S3Request> readAll(TestingLake lake, int files, Opener opener)
            throws Exception
    {
        long mark = lake.s3().log().mark();
        List<Future<?>> reads = new ArrayList<>();
        try (ExecutorService executor = Executors.newFixedThreadPool(READERS)) {
            for (int file = 0; file < files; file++) {
                int index = file;
                reads.add(executor.submit(() -> {
                    int length = length(index);
                    byte[] bytes = new byte[length];
                    try (TrinoInput input = opener.open(lake.file("table/file" + index, length))) {
                        for (int position = 0; position < length; position += READ_BYTES) {
                            input.readFully(position, bytes, position, Math.min(READ_BYTES, length - position));
                        }
                    }
                    assertThat(Arrays.equals(bytes, 0, length, content, 0, length)).as("the bytes of file %s", index).isTrue();
                    return null;
                }));
            }
        }
        for (Future<?> read : reads) {
            read.get();
        }
        return lake.s3().log().since(mark);
    }

    @Test
    void testHalfOfTheRequestsRefused(@TempDir Path directory)
            throws Exception
    {
        readUnderRefusals(directory, 60);
    }

    @Test
    @Tag("exhaustive")
    @Timeout(900)
    void testRefusalsForLong(@TempDir Path directory)
            throws Exception
    {
        // one to three minutes, most of which are waits between attempts
        readUnderRefusals(directory, 500);
    }

    private void readUnderRefusals(Path directory, int files)
            throws Exception
    {
        new Random(42).nextBytes(content);
        try (TestingLake lake = new TestingLake(directory)) {
            for (int file = 0; file < files; file++) {
                lake.put("table/file" + file, Arrays.copyOf(content, length(file)));
            }
            S3Faults faults = S3Faults.NONE.withUnavailableShare(0.5, 7);
            lake.s3().setFaults(faults);
            List<S3Request> plain = readAll(lake, files, TrinoInputFile::newInput);
            lake.s3().setFaults(faults);
            long start = System.nanoTime();
            List<S3Request> cached = readAll(lake, files, lake::openCached);
            long nanos = System.nanoTime() - start;
            lake.s3().setFaults(S3Faults.NONE);
            long requestedBytes = lake.counter(CounterNames.REQUESTED_BYTES);
            long bypassBytes = lake.counter(CounterNames.BYPASS_BYTES);
            long refused = lake.worker().gauge(CounterNames.ORIGIN_THROTTLED);
            long repeated = lake.worker().gauge(CounterNames.ORIGIN_RETRIES);
            System.out.printf(
                    "reads of %s files under refusals in %s s: %s requests plain, %s with the cache, %s of %s bytes past it, %s of the worker's requests refused, %s repeated%n",
                    files, TimeUnit.NANOSECONDS.toSeconds(nanos), plain.size(), cached.size(), bypassBytes, requestedBytes, refused, repeated);

            assertThat(plain).extracting(S3Request::status).as("the refusals").contains(503);
            // What is given up, more of it on a slow machine, is asked for once more, and the state of its file. What is refused costs nothing but time.
            long reads = LARGE_FILES * (LARGE_FILE_BYTES / READ_BYTES) + files - LARGE_FILES;
            assertThat(cached.stream().filter(request -> request.status() != 503).count()).isLessThanOrEqualTo(reads + 2 * lake.counter(CounterNames.BYPASS_REQUESTS));
            assertThat(refused).isPositive();
            assertThat(repeated).as("what was refused was asked for again, or given up").isPositive().isLessThanOrEqualTo(refused);
            assertThat(bypassBytes).as("bytes past the cache, of %s", requestedBytes).isLessThan(requestedBytes);

            // what was filled meanwhile is there
            List<S3Request> again = readAll(lake, files, lake::openCached);
            assertThat(again.stream().mapToLong(S3Request::bytesSent).sum()).isLessThanOrEqualTo(bypassBytes);
        }
    }
}
