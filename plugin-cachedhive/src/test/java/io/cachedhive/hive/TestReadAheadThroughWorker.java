package io.cachedhive.hive;

import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.trino.filesystem.TrinoInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

import static java.util.Arrays.copyOfRange;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a stream that is read straight on asks the object store for, and when.
 */
@Timeout(120)
@Tag("slow")
class TestReadAheadThroughWorker
{
    private static final int MIB = 1 << 20;
    private static final int FILE_BYTES = 12 * MIB;

    private final byte[] content = new byte[FILE_BYTES];
    private TestingLake lake;
    private long mark;

    @BeforeEach
    void setUp(@TempDir Path directory)
            throws IOException
    {
        new Random(3).nextBytes(content);
        lake = new TestingLake(directory);
        lake.put("text", content);
        mark = lake.s3().log().mark();
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        lake.close();
    }

    private TrinoInputStream open(long splitEnd)
            throws IOException
    {
        return lake.openCachedStream(lake.file("text", FILE_BYTES), splitEnd);
    }

    private void read(TrinoInputStream stream, int count)
            throws IOException
    {
        int position = (int) stream.getPosition();
        int end = position + count;
        while (position < end) {
            // like a text reader
            byte[] bytes = stream.readNBytes(Math.min(16 << 10, end - position));
            assertThat(bytes).isEqualTo(copyOfRange(content, position, position + bytes.length));
            position += bytes.length;
        }
    }

    private List<String> ranges()
    {
        return lake.s3().log().since(mark).stream()
                .filter(S3Request::isGet)
                .map(request -> request.range().orElseThrow())
                .toList();
    }

    private static String range(int start, int end)
    {
        return "bytes=%s-%s".formatted(start, end - 1);
    }

    @Test
    void testNextWindowComesWhileTheReaderIsBusy()
            throws IOException
    {
        try (TrinoInputStream stream = open(FILE_BYTES)) {
            read(stream, 1000);
            read(stream, MIB - 1000);
            assertThat(ranges()).as("a reader may want no more than the start").containsExactly(range(0, MIB));
            read(stream, 1);
            // without another read
            Await.until("the next window is asked for", () -> ranges().contains(range(3 * MIB, 7 * MIB)));
            assertThat(ranges()).containsExactly(range(0, MIB), range(MIB, 3 * MIB), range(3 * MIB, 7 * MIB));
            read(stream, FILE_BYTES - MIB - 1);
            assertThat(stream.read()).isEqualTo(-1);
        }
        assertThat(ranges()).containsExactly(range(0, MIB), range(MIB, 3 * MIB), range(3 * MIB, 7 * MIB), range(7 * MIB, 11 * MIB), range(11 * MIB, 12 * MIB));
        assertThat(lake.counter(CounterNames.REMOTE_READ_BYTES)).isEqualTo(FILE_BYTES);
        assertThat(lake.counter(CounterNames.REQUESTED_BYTES)).isEqualTo(FILE_BYTES);
    }

    @Test
    void testEndsWithTheSplit()
            throws IOException
    {
        int splitEnd = 5 * MIB - 10;
        try (TrinoInputStream stream = open(splitEnd)) {
            read(stream, splitEnd + 10);
            assertThat(ranges()).containsExactly(range(0, MIB), range(MIB, 3 * MIB), range(3 * MIB, 5 * MIB));
            // the rest of a line
            read(stream, 100);
        }
        assertThat(ranges()).containsExactly(range(0, MIB), range(MIB, 3 * MIB), range(3 * MIB, 5 * MIB), range(5 * MIB, 6 * MIB));
        assertThat(lake.counter(CounterNames.REMOTE_READ_BYTES)).isEqualTo(splitEnd + 110);
    }

    @Test
    void testWhatIsThereIsNotAskedForAhead()
            throws IOException
    {
        try (TrinoInputStream stream = open(FILE_BYTES)) {
            read(stream, FILE_BYTES);
        }
        long requests = lake.worker().gauge(CounterNames.ORIGIN_GETS);
        try (TrinoInputStream stream = open(FILE_BYTES)) {
            read(stream, FILE_BYTES);
            stream.seek(MIB + 5);
            read(stream, 2 * MIB);
        }
        assertThat(lake.worker().gauge(CounterNames.ORIGIN_GETS)).isEqualTo(requests);
        assertThat(lake.counter(CounterNames.RAM_HIT_BYTES)).isEqualTo(FILE_BYTES + 2 * MIB);
    }

    @Test
    void testLeavesTheWindowThatIsOnItsWay()
            throws IOException
    {
        try (TrinoInputStream stream = open(FILE_BYTES)) {
            read(stream, MIB + 1);
            stream.seek(9 * MIB);
            read(stream, 100);
            stream.seek(4 * MIB);
            read(stream, 100);
            read(stream, 2 * MIB);
            stream.seek(MIB);
            assertThat(stream.readAllBytes()).isEqualTo(copyOfRange(content, MIB, FILE_BYTES));
        }
        // closed with one on its way
        try (TrinoInputStream stream = open(FILE_BYTES)) {
            read(stream, MIB + 1);
        }
        Await.until("nothing is left over", () -> lake.worker().gauge(CounterNames.ACTIVE_REQUESTS) == 0);
    }
}
