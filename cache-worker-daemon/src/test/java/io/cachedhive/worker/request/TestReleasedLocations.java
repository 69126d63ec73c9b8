package io.cachedhive.worker.request;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.FillMessage.OfferGuest;
import io.cachedhive.protocol.wire.InvalidationMessage.ReleaseFiles;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.Range;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.StatusMessage;
import io.cachedhive.worker.testing.TestingWorker;
import io.cachedhive.worker.testing.WireClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients report files that were removed from the origin.
 */
@Timeout(60)
class TestReleasedLocations
{
    @TempDir
    private Path directory;

    private TestingWorker worker;
    private WireClient client;
    private OriginId origin;

    @BeforeEach
    void start()
    {
        Map<String, String> properties = Map.of("s3.endpoint", "http://127.0.0.1:1", "s3.region", "us-east-1");
        worker = new TestingWorker(directory)
                .withOrigin("default", properties)
                .withOrigin("other", Map.of("s3.endpoint", "http://127.0.0.1:2", "s3.region", "us-east-1"));
        worker.start();
        client = worker.connect();
        origin = worker.originId("default");
    }

    @AfterEach
    void stop()
    {
        client.close();
        worker.close();
    }

    private static FileVersion file(OriginId origin, String location, long modifiedMillis)
    {
        return new FileVersion(origin, location, BLOCK_SIZE, modifiedMillis);
    }

    private void cache(FileVersion file)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(new byte[BLOCK_SIZE]);
        client.send(new OfferGuest(index(file), file, 0, "schema.table", 42, (int) checksum.getValue(), ByteBuffer.allocate(BLOCK_SIZE)));
        // requests of one connection are taken one after another
        client.ask(new StatusMessage.Ping());
        assertThat(isCached(file)).isTrue();
    }

    private boolean isCached(FileVersion file)
    {
        return client.ask(new Read(index(file), file, Range.ofBlocks(0, 1), true, false, false, new RingEpoch(1), "schema.table")) instanceof BlockBytes;
    }

    private int index(FileVersion file)
    {
        return index(file.origin());
    }

    private int index(OriginId origin)
    {
        return worker.origins().stream().map(named -> named.id()).toList().indexOf(origin);
    }

    @Test
    void releasesAllVersionsOfFilesAndDirectories()
    {
        FileVersion old = file(origin, "s3://lake/t/p=1/a", 1_700_000_000_000L);
        FileVersion current = file(origin, "s3://lake/t/p=1/a", 1_700_000_001_000L);
        FileVersion deeper = file(origin, "s3://lake/t/p=2/b", 1_700_000_000_000L);
        FileVersion besideFile = file(origin, "s3://lake/t/p=1/ab", 1_700_000_000_000L);
        FileVersion besideDirectory = file(origin, "s3://lake/t/p=22/c", 1_700_000_000_000L);
        FileVersion elsewhere = file(worker.originId("other"), "s3://lake/t/p=2/b", 1_700_000_000_000L);
        List<FileVersion> all = List.of(old, current, deeper, besideFile, besideDirectory, elsewhere);
        all.forEach(this::cache);

        assertThat(client.ask(new ReleaseFiles(index(origin), List.of("s3://lake/t/p=1/a", "s3://lake/t/p=2/", "s3://lake/missing/")))).isInstanceOf(ControlMessage.Ack.class);
        assertThat(all.stream().filter(this::isCached)).containsExactly(besideFile, besideDirectory, elsewhere);
        assertThat(worker.gauge(CounterNames.RELEASED_FILES)).isEqualTo(3);
        assertThat(worker.gauge(CounterNames.RELEASED_BLOCKS)).isEqualTo(3);
        assertThat(worker.gauge(CounterNames.RELEASED_BYTES)).isEqualTo(3L * BLOCK_SIZE);
    }

    @Test
    void refusesAnOriginThatWasNotNamed()
    {
        assertThat(client.ask(new ReleaseFiles(7, List.of("s3://lake/t/")))).isEqualTo(new ControlMessage.Error("the connection named 2 origins, there is none with the index 7"));
    }
}
