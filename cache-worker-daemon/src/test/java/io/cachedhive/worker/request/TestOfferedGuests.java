package io.cachedhive.worker.request;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.FillMessage.OfferGuest;
import io.cachedhive.protocol.wire.InvalidationMessage;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.ReadMessage.Range;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.protocol.wire.StatusMessage;
import io.cachedhive.testing.Await;
import io.cachedhive.worker.testing.TestingWorker;
import io.cachedhive.worker.testing.WireClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32C;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What clients offer of other workers' blocks.
 */
@Timeout(60)
class TestOfferedGuests
{
    private static final int BLOCKS = 100;
    private static final int TAIL = 77;

    @TempDir
    private Path directory;

    private TestingWorker worker;
    private WireClient client;
    private FileVersion file;

    @BeforeEach
    void start()
    {
        // never asked
        worker = new TestingWorker(directory).withOrigin("default", Map.of("s3.endpoint", "http://127.0.0.1:1", "s3.region", "us-east-1"));
        worker.start();
        client = worker.connect();
        OriginId origin = worker.originId("default");
        file = new FileVersion(origin, "s3://lake/table/file", (BLOCKS - 1L) * BLOCK_SIZE + TAIL, 1_700_000_000_000L);
    }

    @AfterEach
    void stop()
    {
        client.close();
        worker.close();
    }

    private byte[] bytes(int block)
    {
        byte[] bytes = new byte[file.blockLength(block, BLOCK_SIZE)];
        new Random(block).nextBytes(bytes);
        return bytes;
    }

    private void offer(int block, long etag, int checksumChange)
    {
        byte[] bytes = bytes(block);
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        client.send(new OfferGuest(0, file, block, "schema.table", etag, (int) checksum.getValue() + checksumChange, ByteBuffer.wrap(bytes)));
        // requests of one connection are taken one after another
        client.ask(new StatusMessage.Ping());
    }

    private Message read(int block)
    {
        return client.ask(new Read(0, file, Range.ofBlocks(block, 1), true, false, false, new RingEpoch(1), "schema.table"));
    }

    private void assertCounters(int kept, int refused)
    {
        assertThat(worker.gauge(CounterNames.GUEST_BLOCKS_OFFERED)).isEqualTo(kept + refused);
        assertThat(worker.gauge(CounterNames.GUEST_BLOCKS_ACCEPTED)).isEqualTo(kept);
        assertThat(worker.gauge(CounterNames.GUEST_BLOCKS_REJECTED)).isEqualTo(refused);
    }

    @Test
    void offeredBlockIsInRam()
    {
        offer(3, 42, 0);
        offer(BLOCKS - 1, 42, 0);
        for (int block : new int[] {3, BLOCKS - 1}) {
            assertThat(read(block)).isInstanceOfSatisfying(BlockBytes.class, answer -> {
                assertThat(answer.source()).isEqualTo(Source.RAM);
                assertThat(answer.etagDigest()).isEqualTo(42);
                assertThat(WireClient.bytes(answer)).isEqualTo(bytes(block));
            });
        }
        assertCounters(2, 0);
        assertThat(worker.gauge(CounterNames.GUEST_BYTES)).isPositive();
    }

    @Test
    void refusesWhatIsWrongOrOfAnotherState()
    {
        offer(0, 42, 1);
        assertThat(read(0)).isEqualTo(new BlockNo(0, NoCause.ABSENT));
        assertCounters(0, 1);
        offer(0, 42, 0);
        offer(1, 43, 0);
        assertThat(read(1)).isEqualTo(new BlockNo(1, NoCause.ABSENT));
        assertCounters(1, 2);
    }

    @Test
    void takesNoMoreThanATenthOfRam()
    {
        for (int block = 0; block < BLOCKS; block++) {
            offer(block, 42, 0);
        }
        assertThat(worker.gauge(CounterNames.GUEST_BYTES)).isBetween(1L, (16L << 20) / 10);
        assertThat(worker.gauge(CounterNames.GUEST_BLOCKS_OFFERED)).isEqualTo(BLOCKS);
    }

    @Test
    void revalidationDropsThem()
    {
        offer(0, 42, 0);
        // of an origin that cannot be asked: what it had is gone whatever the answer
        client.send(new InvalidationMessage.Revalidate(0, file));
        Await.until("dropped", () -> read(0) instanceof BlockNo);
        assertThat(worker.gauge(CounterNames.GUEST_BYTES)).isZero();
    }

    @Test
    void nonsenseEndsTheConnection()
    {
        long refused = worker.gauge(CounterNames.REJECTED_CONNECTIONS);
        client.send(new OfferGuest(0, file, BLOCKS, "schema.table", 42, 0, ByteBuffer.allocate(10)));
        Await.until("refused", () -> worker.gauge(CounterNames.REJECTED_CONNECTIONS) > refused);
        try (WireClient next = worker.connect()) {
            assertThat(next.ask(new StatusMessage.Ping())).isInstanceOf(StatusMessage.Pong.class);
        }
    }
}
