package io.cachedhive.client;

import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.FillMessage.OfferGuest;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.zip.CRC32C;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static io.cachedhive.client.ReadFixture.CHUNK;
import static io.cachedhive.client.ReadFixture.PATIENT;
import static io.cachedhive.client.ReadFixture.TABLE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Blocks that other hosts' workers had are offered to this host's.
 */
@Timeout(60)
class TestGuestOffers
{
    private ReadFixture fixture;
    private TestingWorker local;
    private TestingWorker owner;
    private PublishedRing ring;
    private CacheClient client;
    private long position;

    @BeforeEach
    void setUp()
            throws IOException
    {
        fixture = new ReadFixture();
        local = fixture.local;
        owner = fixture.worker("other");
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        fixture.close();
    }

    private CachedFile start(boolean mayFill)
            throws IOException
    {
        ring = fixture.publish(Map.of(local, Optional.empty(), owner, Optional.of(owner.listenTcp())));
        position = fixture.chunkOf(ring, owner);
        fixture.listen();
        client = fixture.connected(fixture.client(PATIENT));
        return fixture.open(client, Optional.of(ring.epoch()), mayFill);
    }

    @Test
    void testHitOfAnotherHostIsOffered()
            throws Exception
    {
        CachedFile file = start(true);
        local.keepsGuests = true;
        // most of two blocks
        fixture.assertReads(file, position + 10, 2 * BLOCK - 20);
        int first = (int) (position / BLOCK);
        Await.untilAsserted("the guests are offered", () -> assertThat(local.guests).extracting(OfferGuest::block).containsExactlyInAnyOrder(first, first + 1));
        for (OfferGuest guest : local.guests) {
            assertThat(guest.payload()).as("the whole block").isEqualTo(ByteBuffer.wrap(fixture.expected((long) guest.block() * BLOCK, BLOCK)));
            CRC32C checksum = new CRC32C();
            checksum.update(guest.payload().duplicate());
            assertThat(guest.checksum()).isEqualTo((int) checksum.getValue());
            assertThat(guest.etagDigest()).isEqualTo(TestingWorker.ETAG);
            assertThat(guest.file()).isEqualTo(fixture.file);
            assertThat(guest.table()).isEqualTo(TABLE);
        }
        // from shared memory now, whichever part of it
        fixture.assertReads(file, position, 2 * BLOCK);
        fixture.assertSources(client, Map.of(ReadSource.NON_LOCAL_HIT, 2L * BLOCK - 20, ReadSource.RAM_HIT, 2L * BLOCK));
        assertThat(owner.readRequests).hasSize(1);
        assertThat(local.readRequests).as("nobody asks the own worker for what it does not own").isEmpty();
        ReadFixture.assertIdle(client);
    }

    @Test
    void testSmallReadsMoveOnlyWhatTheyNeed()
            throws Exception
    {
        CachedFile file = start(true);
        local.keepsGuests = true;
        int first = (int) (position / BLOCK);
        // the ends of two blocks and what is between them; after two reads of a part of a block all of it is requested
        for (int i = 0; i < 3; i++) {
            fixture.assertReads(file, position + BLOCK - 10, BLOCK + 20);
            Await.untilAsserted("the guest is there", () -> assertThat(local.guests).extracting(OfferGuest::block).contains(first + 1));
        }
        assertThat(owner.readRequests).extracting(ReadMessage.Read::range).containsExactly(
                new ReadMessage.Range(first, 3, BLOCK - 10, BLOCK - 10),
                // what became a guest at once is not requested again
                new ReadMessage.Range(first, 1, BLOCK - 10, 0),
                new ReadMessage.Range(first + 2, 1, 0, BLOCK - 10),
                ReadMessage.Range.ofBlocks(first, 1),
                ReadMessage.Range.ofBlocks(first + 2, 1));
        Await.untilAsserted("the guests are offered", () -> assertThat(local.guests).extracting(OfferGuest::block).containsExactlyInAnyOrder(first, first + 1, first + 2));
        long bytes = 3L * (BLOCK + 20);
        fixture.assertSources(client, Map.of(ReadSource.NON_LOCAL_HIT, BLOCK + 60L, ReadSource.RAM_HIT, bytes - BLOCK - 60));
        fixture.assertReads(file, position, 3 * BLOCK);
        fixture.assertSources(client, Map.of(ReadSource.NON_LOCAL_HIT, BLOCK + 60L, ReadSource.RAM_HIT, bytes - BLOCK - 60 + 3 * BLOCK));
        ReadFixture.assertIdle(client);
    }

    @Test
    void testSmallReadsOfAScanThatComesBackMoveWholeBlocks()
            throws Exception
    {
        start(true);
        local.keepsGuests = true;
        CachedFile file = fixture.open(client, new ReadScope(TABLE, Optional.of(ring.epoch()), true, true, FillTerms.UNSPECIFIED, fixture.observer, new DeliveredStates()));
        fixture.assertReads(file, position + 5, 10);
        assertThat(owner.readRequests).extracting(ReadMessage.Read::range).containsExactly(ReadMessage.Range.ofBlocks((int) (position / BLOCK), 1));
        Await.untilAsserted("the guests are offered", () -> assertThat(local.guests).hasSize(1));
        ReadFixture.assertIdle(client);
    }

    @Test
    void testSmallReadsWhereNoGuestsAreKeptNeverMoveMore()
            throws Exception
    {
        local.wantsGuests = false;
        CachedFile file = start(true);
        Await.until("the ring is known", () -> client.newestRing().isPresent());
        for (int i = 0; i < 5; i++) {
            fixture.assertReads(file, position + 1, BLOCK - 3);
        }
        assertThat(owner.readRequests).hasSize(5).extracting(ReadMessage.Read::range).containsOnly(new ReadMessage.Range((int) (position / BLOCK), 1, 1, 2));
        assertThat(local.guests).isEmpty();
        ReadFixture.assertIdle(client);
    }

    @Test
    void testFillsAreNotOffered()
            throws Exception
    {
        CachedFile file = start(true);
        owner.source = Source.REMOTE;
        fixture.assertReads(file, position, BLOCK);
        assertNotOffered(file);
    }

    @Test
    void testFillsOfAScanThatComesBackAreOffered()
            throws Exception
    {
        start(true);
        owner.source = Source.REMOTE;
        local.keepsGuests = true;
        CachedFile file = fixture.open(client, new ReadScope(TABLE, Optional.of(ring.epoch()), true, true, FillTerms.UNSPECIFIED, fixture.observer, new DeliveredStates()));
        fixture.assertReads(file, position, BLOCK);
        Await.untilAsserted("the guests are offered", () -> assertThat(local.guests).extracting(OfferGuest::block).containsExactly((int) (position / BLOCK)));
        fixture.assertReads(file, position, BLOCK);
        fixture.assertSources(client, Map.of(ReadSource.REMOTE_READ, (long) BLOCK, ReadSource.RAM_HIT, (long) BLOCK));
        ReadFixture.assertIdle(client);
    }

    @Test
    void testReadThatMayNotFillOffersNothing()
            throws Exception
    {
        fixture.assertReads(start(false), position, BLOCK);
        assertNotOffered(fixture.open(client, Optional.of(ring.epoch()), true));
    }

    @Test
    void testNothingIsOfferedWhereNobodySeesTheMemory()
            throws Exception
    {
        local.sharesMemory = false;
        CachedFile file = start(true);
        Await.until("the ring is known", () -> client.newestRing().isPresent());
        fixture.assertReads(file, position, BLOCK);
        ReadFixture.assertIdle(client);
        assertThat(local.guests).isEmpty();
    }

    @Test
    void testNothingIsOfferedToAWorkerWithoutRoomForGuests()
            throws Exception
    {
        local.wantsGuests = false;
        CachedFile file = start(true);
        Await.until("the ring is known", () -> client.newestRing().isPresent());
        fixture.assertReads(file, position, BLOCK);
        ReadFixture.assertIdle(client);
        assertThat(local.guests).isEmpty();
    }

    /**
     * What comes after it on the same connection is there, and nothing before.
     */
    private void assertNotOffered(CachedFile file)
            throws Exception
    {
        owner.source = Source.RAM;
        fixture.assertReads(file, position + 2 * BLOCK, BLOCK);
        Await.untilAsserted("the guests are offered", () -> assertThat(local.guests).extracting(OfferGuest::block).containsExactly((int) (position / BLOCK) + 2));
    }

    @Test
    void testBlocksThatDoNotVerifyAreNotOffered()
            throws Exception
    {
        CachedFile file = start(true);
        owner.reads = (exchange, read) -> exchange.answerFlipped(read.firstBlock(), 7);
        fixture.assertReads(file, position, BLOCK);
        owner.reads = TestingWorker.Exchange::answerAll;
        assertNotOffered(file);
    }

    @Test
    void testOwnWorkerThatDoesNotTakeThemHoldsNobodyUp()
            throws Exception
    {
        CachedFile file = start(true);
        CountDownLatch frozen = new CountDownLatch(1);
        local.frozen = frozen;
        for (int i = 0; i < 400; i++) {
            // 64 KiB each: more than may wait; a reader that waits for the worker to take one never ends
            fixture.assertReads(file, position + i % (CHUNK / BLOCK) * BLOCK, BLOCK);
        }
        // but for the few that a busy machine made slow enough to be hedged
        assertThat(fixture.observer.bytes(ReadSource.NON_LOCAL_HIT)).isGreaterThanOrEqualTo(396L * BLOCK);
        assertThat(fixture.observer.totalBytes()).isEqualTo(400L * BLOCK);
        frozen.countDown();
        ReadFixture.assertIdle(client);
    }
}
