package io.cachedhive.client;

import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.CounterNames;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static io.cachedhive.client.ReadFixture.CHUNK;
import static io.cachedhive.client.ReadFixture.PATIENT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Readers ask the first of a chunk's order that is in the zone of their own worker.
 */
class TestZones
{
    private ReadFixture fixture;

    @BeforeEach
    void setUp()
            throws IOException
    {
        fixture = new ReadFixture();
        fixture.listen();
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        fixture.close();
    }

    @Test
    void testAsksWithinTheZone()
            throws Exception
    {
        Workers workers = workers(List.of("far", "near", "local"));
        read(workers, false, ReadSource.NON_LOCAL_HIT, 0);
        assertThat(workers.near().readRequests).hasSize(1);
        assertThat(workers.far().readRequests).isEmpty();
    }

    @Test
    void testOwnWorkerIsTheFirstOfItsZone()
            throws Exception
    {
        Workers workers = workers(List.of("far", "local", "near"));
        read(workers, false, ReadSource.RAM_HIT, 0);
        assertThat(workers.near().readRequests).isEmpty();
        assertThat(workers.far().readRequests).isEmpty();
    }

    @Test
    void testAsksTheOwnerInAnotherZone()
            throws Exception
    {
        Workers workers = workers(List.of("far", "near", "local"));
        read(workers, true, ReadSource.NON_LOCAL_HIT, BLOCK);
        assertThat(workers.near().readRequests).isEmpty();
        assertThat(workers.far().readRequests).hasSize(1);
    }

    private void read(Workers workers, boolean crossZoneReads, ReadSource expected, long crossZoneBytes)
            throws Exception
    {
        fixture.local.setRings(List.of(workers.ring()));
        CacheClientConfig config = new CacheClientConfig(
                fixture.socket,
                ReadFixture.identity(),
                CHUNK,
                crossZoneReads,
                CacheClientConfig.Verification.DEFAULT,
                CacheClientConfig.Limits.DEFAULT,
                PATIENT);
        try (CacheClient client = CacheClient.start(config, _ -> fixture.local.memory.map(), System::nanoTime)) {
            fixture.connected(client);
            fixture.assertReads(fixture.open(client, Optional.of(workers.ring().epoch()), true), 0, BLOCK);
            fixture.assertSources(client, Map.of(expected, (long) BLOCK));
            assertThat(client.counters().get(CounterNames.CROSS_ZONE_BYTES)).isEqualTo(crossZoneBytes);
        }
    }

    private record Workers(TestingWorker near, TestingWorker far, PublishedRing ring) {}

    /**
     * Workers that the file's first chunk has in this order, by the beginnings of their ids. The far one is in another zone.
     */
    private Workers workers(List<String> order)
            throws IOException
    {
        CacheWorkerId local = fixture.local.id();
        ChunkKey chunk = new ChunkKey(ChunkKey.locationHash(fixture.file.origin(), fixture.file.location()), 0);
        for (int attempt = 0; ; attempt++) {
            CacheWorkerId near = new CacheWorkerId("near-" + attempt);
            CacheWorkerId far = new CacheWorkerId("far-" + attempt);
            HashRing ring = HashRing.of(Stream.of(local, near, far)
                    .map(id -> new RingMember(id, 100, Optional.of(id == far ? "zone-2" : "zone-1")))
                    .toList());
            if (ring.order(chunk).stream().map(id -> id.value().replaceAll("-.*", "")).toList().equals(order)) {
                TestingWorker nearWorker = fixture.worker(near.value());
                TestingWorker farWorker = fixture.worker(far.value());
                Map<CacheWorkerId, WorkerAddress> addresses = new HashMap<>();
                addresses.put(near, nearWorker.listenTcp());
                addresses.put(far, farWorker.listenTcp());
                return new Workers(nearWorker, farWorker, new PublishedRing(ring, addresses, System.currentTimeMillis()));
            }
        }
    }
}
