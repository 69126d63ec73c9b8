package io.cachedhive.worker.request;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.FillMessage.OfferGuest;
import io.cachedhive.protocol.wire.HandOverMessage.Describe;
import io.cachedhive.protocol.wire.HandOverMessage.HandOver;
import io.cachedhive.protocol.wire.InvalidationMessage.Flush;
import io.cachedhive.protocol.wire.InvalidationMessage.Flushed;
import io.cachedhive.protocol.wire.InvalidationMessage.GetTombstones;
import io.cachedhive.protocol.wire.InvalidationMessage.Quarantine;
import io.cachedhive.protocol.wire.InvalidationMessage.ReleaseFiles;
import io.cachedhive.protocol.wire.ListingMessage.GetFiles;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.PinMessage.GetPins;
import io.cachedhive.protocol.wire.PinMessage.Pins;
import io.cachedhive.protocol.wire.PinMessage.SetPins;
import io.cachedhive.protocol.wire.PolicyMessage.TableQuota;
import io.cachedhive.protocol.wire.PreloadMessage.Preload;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.Range;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.RingMessage.GetRings;
import io.cachedhive.protocol.wire.RingMessage.PublishRing;
import io.cachedhive.protocol.wire.RingMessage.Rings;
import io.cachedhive.protocol.wire.StatusMessage;
import io.cachedhive.testing.Await;
import io.cachedhive.worker.testing.TestingWorker;
import io.cachedhive.worker.testing.WireClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32C;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that peers may not send, and requests from the future.
 */
@Timeout(120)
class TestRefusedRequests
{
    private static final long FUTURE = System.currentTimeMillis() + Duration.ofHours(3).toMillis();
    private static final Digest128 ZERO = new Digest128(0, 0);

    @TempDir
    private Path directory;

    private TestingWorker worker;
    private OriginId origin;
    // on the Unix socket, without the secret
    private WireClient reader;
    // with the secret
    private WireClient member;
    private FileVersion file;

    @BeforeEach
    void start()
            throws IOException
    {
        worker = new TestingWorker(directory)
                .withSsd(64 << 20)
                .withOrigin("default", Map.of("s3.endpoint", "http://127.0.0.1:1", "s3.region", "us-east-1"))
                .start();
        origin = worker.originId("default");
        file = new FileVersion(origin, "s3://lake/t/p=1/a", BLOCK_SIZE, 1_700_000_000_000L);
        connect();
    }

    private void connect()
            throws IOException
    {
        reader = worker.connectReader();
        member = worker.connectTcp();
    }

    @AfterEach
    void stop()
    {
        reader.close();
        member.close();
        worker.close();
    }

    private void cache()
    {
        CRC32C checksum = new CRC32C();
        checksum.update(new byte[BLOCK_SIZE]);
        reader.send(new OfferGuest(0, file, 0, "schema.table", 42, (int) checksum.getValue(), ByteBuffer.allocate(BLOCK_SIZE)));
        // requests of one connection are handled in order
        reader.ask(new StatusMessage.Ping());
        assertThat(isCached()).isTrue();
    }

    private boolean isCached()
    {
        return reader.ask(new Read(0, file, Range.ofBlocks(0, 1), true, false, false, new RingEpoch(1), "schema.table")) instanceof BlockBytes;
    }

    private static PublishedRing ring(String member, long publishedMillis)
    {
        return new PublishedRing(HashRing.of(List.of(new RingMember(new CacheWorkerId(member), 100, Optional.empty()))), Map.of(), publishedMillis);
    }

    private Tombstone tombstone(long createdMillis)
    {
        return new Tombstone(new Digest128(1, 1), origin, "s3://lake/t/", createdMillis);
    }

    private Pin pin(long createdMillis)
    {
        return new Pin(new Digest128(1, 1), origin, "s3://lake/t/", "schema.table", Optional.empty(), true, createdMillis);
    }

    @Test
    void testReaderChangesAndListsNothing()
    {
        cache();
        assertThat(member.ask(new PublishRing(ring("before", 10)))).isEqualTo(new Ack());
        List<Message> requests = List.of(
                new Flush(List.of(tombstone(System.currentTimeMillis())), true),
                new ReleaseFiles(0, List.of("s3://lake/t/")),
                new SetPins(List.of(pin(System.currentTimeMillis()))),
                new PublishRing(ring("intruder", System.currentTimeMillis())),
                new TableQuota("schema.table", 0),
                new TableQuota("schema.table", 1),
                new Preload(0, file, 0, BLOCK_SIZE, new RingEpoch(1), "schema.table"),
                new Describe(file.id(), 0, 1),
                new HandOver(new CacheWorkerId("intruder"), List.of()),
                new GetFiles(0, 0),
                new GetPins(ZERO, ZERO, false),
                new GetTombstones(ZERO, ZERO),
                new StatusMessage.GetTables(""));
        for (Message request : requests) {
            assertThat(reader.ask(request)).as(request.type().name()).isInstanceOfSatisfying(ControlMessage.Error.class, error ->
                    assertThat(error.message()).startsWith(request.type() + " needs the role of the cluster"));
        }
        assertThat(worker.gauge(CounterNames.REJECTED_REQUESTS)).isEqualTo(requests.size());
        assertThat(isCached()).isTrue();
        assertThat(worker.service().rings().rings()).containsExactly(ring("before", 10));
        assertThat(((Pins) member.ask(new GetPins(ZERO, ZERO, false))).pins()).isEmpty();
        // the connection of the refused peer reads on
        assertThat(reader.ask(new GetRings())).isEqualTo(new Rings(List.of(ring("before", 10))));
    }

    /**
     * A reader that found wrong bytes keeps them from other readers.
     */
    @Test
    void testReaderReportsWrongBytes()
    {
        cache();
        assertThat(reader.ask(new Quarantine(0, file, 0, BLOCK_SIZE))).isEqualTo(new Ack());
        assertThat(isCached()).isFalse();
        assertThat(worker.gauge(CounterNames.REJECTED_REQUESTS)).isZero();
    }

    @Test
    void testRecordsOfTheFuture()
            throws IOException
    {
        cache();
        assertThat(member.ask(new PublishRing(ring("before", 10)))).isEqualTo(new Ack());
        for (Message request : List.of(new PublishRing(ring("intruder", FUTURE)), new Flush(List.of(tombstone(FUTURE)), true), new SetPins(List.of(pin(FUTURE))))) {
            assertThat(member.ask(request)).as(request.type().name()).isInstanceOfSatisfying(ControlMessage.Error.class, error ->
                    assertThat(error.message()).contains("has a time more than 2 hours ahead of the cache worker's clock"));
        }
        assertThat(worker.gauge(CounterNames.REJECTED_REQUESTS)).isEqualTo(3);
        assertThat(isCached()).isTrue();
        assertThat(worker.service().rings().rings()).containsExactly(ring("before", 10));

        // nothing of it is kept for the next run
        Await.until("the ring is written", () -> Files.exists(directory.resolve("state/rings")));
        reader.close();
        member.close();
        worker.stop();
        worker.start();
        connect();
        assertThat(worker.service().rings().rings()).containsExactly(ring("before", 10));
        assertThat(((Pins) member.ask(new GetPins(ZERO, ZERO, false))).pins()).isEmpty();
        // what is not of the future is accepted
        assertThat(member.ask(new Flush(List.of(tombstone(System.currentTimeMillis())), true))).isInstanceOf(Flushed.class);
    }
}
