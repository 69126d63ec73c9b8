package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.zip.CRC32C;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Blocks of other workers: in RAM only, a part of it only, and never in the way of anything else.
 */
class TestGuests
{
    private static final int BLOCK = 64 << 10;
    private static final long RAM = 16 << 20;
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);
    private static final int BLOCKS = 200;
    private static final FileVersion FILE = TestingBlocks.file(1, (long) BLOCKS * BLOCK);

    private final ManualClock clock = new ManualClock();
    private final FakeDisk disk = new FakeDisk();

    @TempDir
    private Path directory;

    private StoreConfig config;

    @BeforeEach
    void makeDirectories()
            throws IOException
    {
        config = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), RAM)
                .withTtl(Duration.ofHours(2))
                .withCheckpointInterval(Duration.ofDays(1000))
                .withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd")), new Capacity.Bytes(32 << 20))));
    }

    private BlockStore open()
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(clock));
    }

    private static boolean offer(BlockStore store, FileVersion file, int block, long etag)
    {
        byte[] bytes = TestingBlocks.bytes(file.id().block(block), etag, file.blockLength(block, BLOCK));
        return store.offerGuest(file, block, "schema.table", etag, checksum(bytes), ByteBuffer.wrap(bytes));
    }

    private static int checksum(byte[] bytes)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return (int) checksum.getValue();
    }

    private static boolean fill(BlockStore store, FileVersion file, int block)
    {
        assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
        BlockKey key = file.id().block(block);
        int length = file.blockLength(block, BLOCK);
        Optional<Fill> fill = store.beginFill(key, length, ETAG);
        fill.ifPresent(begun -> {
            begun.buffer().put(TestingBlocks.bytes(key, ETAG, length));
            begun.commit().orElseThrow().close();
            store.ssd().drain();
        });
        return fill.isPresent();
    }

    private static boolean isThere(BlockStore store, FileVersion file, int block, long etag)
    {
        BlockKey key = file.id().block(block);
        Optional<PinnedBlock> pinned = store.load(key);
        pinned.ifPresent(found -> {
            try (found) {
                assertThat(TestingBlocks.copy(found.payload())).isEqualTo(TestingBlocks.bytes(key, etag, file.blockLength(block, BLOCK)));
                assertThat(found.etagDigest()).isEqualTo(etag);
            }
        });
        return pinned.isPresent();
    }

    @Test
    void inRamOnly()
            throws Exception
    {
        FileVersion tail = TestingBlocks.file(2, BLOCK + 1000);
        try (BlockStore store = open()) {
            assertThat(offer(store, FILE, 3, ETAG)).isTrue();
            assertThat(offer(store, FILE, 3, ETAG)).as("there already").isTrue();
            assertThat(offer(store, tail, 1, ETAG)).isTrue();
            assertThat(isThere(store, FILE, 3, ETAG)).isTrue();
            assertThat(isThere(store, tail, 1, ETAG)).isTrue();
            store.ssd().drain();
            assertThat(store.gauges().ssdBlocks()).isZero();
            assertThat(store.gauges().guestBytes()).isBetween(BLOCK + 1000L, 2L * BLOCK);
            assertThat(store.file(FILE.id())).as("the ETag itself is not known").isEmpty();
            store.checkInvariants();
        }
        try (BlockStore store = open()) {
            assertThat(isThere(store, FILE, 3, ETAG)).isFalse();
        }
    }

    @Test
    void noMoreThanTheirShare()
            throws Exception
    {
        long max = (long) (RAM * StoreConfig.DEFAULT_GUEST_MAX_SHARE);
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        try (BlockStore store = open()) {
            int kept = 0;
            for (int i = 0; i < 2000; i++) {
                int block = random.nextInt(BLOCKS);
                switch (random.nextInt(4)) {
                    case 0 -> isThere(store, FILE, block, ETAG);
                    case 1 -> store.pin(FILE.id().block(block)).ifPresent(PinnedBlock::close);
                    default -> kept += offer(store, FILE, block, ETAG) ? 1 : 0;
                }
                assertThat(store.gauges().guestBytes()).isLessThanOrEqualTo(max);
                clock.advance(Duration.ofMillis(20));
                if (i % 50 == 0) {
                    store.checkInvariants();
                }
            }
            assertThat(kept).as("new ones take the place of old ones").isGreaterThan(500);
            assertThat(store.gauges().guestBytes()).isGreaterThan(max / 2);
        }
    }

    @Test
    void noneIfTheShareIsZero()
            throws Exception
    {
        config = config.withGuestMaxShare(0);
        try (BlockStore store = open()) {
            assertThat(offer(store, FILE, 0, ETAG)).isFalse();
            assertThat(store.gauges().guestBytes()).isZero();
            store.checkInvariants();
        }
    }

    @Test
    void fillTakesTheirPlace()
            throws Exception
    {
        try (BlockStore store = open()) {
            assertThat(fill(store, FILE, 0)).isTrue();
            assertThat(offer(store, FILE, 1, ETAG)).isTrue();
            assertThat(offer(store, FILE, 2, ETAG)).isTrue();
            // somebody reads it meanwhile
            try (PinnedBlock guest = store.pin(FILE.id().block(1)).orElseThrow()) {
                assertThat(fill(store, FILE, 1)).isTrue();
                assertThat(TestingBlocks.copy(guest.payload())).isEqualTo(TestingBlocks.bytes(FILE.id().block(1), ETAG, BLOCK));
                store.checkInvariants();
            }
            assertThat(isThere(store, FILE, 1, ETAG)).isTrue();
            assertThat(store.isOnSsd(FILE.id().block(1))).isTrue();
            assertThat(store.contents().describe(FILE.id(), 0, 3).orElseThrow().blocks().values())
                    .extracting(BlockTerms::blockClass)
                    .containsExactlyInAnyOrder(BlockClass.NORMAL, BlockClass.NORMAL, BlockClass.GUEST);
            assertThat(store.gauges().guestBytes()).isEqualTo(BLOCK);
            // and not the other way round
            assertThat(offer(store, FILE, 1, ETAG)).isTrue();
            assertThat(store.gauges().guestBytes()).isEqualTo(BLOCK);
            store.checkInvariants();
        }
    }

    @Test
    void guestsLeaveBeforeAllOthers()
            throws Exception
    {
        FileVersion own = TestingBlocks.file(2, 1000L * BLOCK);
        try (BlockStore store = open()) {
            int filled = 0;
            for (int i = 0; i < 10; i++) {
                offer(store, FILE, i, ETAG);
            }
            assertThat(store.gauges().guestBytes()).isEqualTo(10L * BLOCK);
            // until memory is full, and a little more
            for (int i = 0; i < 300; i++) {
                filled += fill(store, own, i) ? 1 : 0;
                clock.advance(Duration.ofMillis(20));
            }
            assertThat(filled).isGreaterThan(240);
            assertThat(store.gauges().guestBytes()).isZero();
            store.checkInvariants();
        }
    }

    @Test
    void whatTheOriginSaysComesFirst()
            throws Exception
    {
        try (BlockStore store = open()) {
            assertThat(offer(store, FILE, 0, ETAG)).isTrue();
            // another state of the file
            assertThat(offer(store, FILE, 1, ETAG + 1)).as("guests of two states").isFalse();
            assertThat(fill(store, FILE, 2)).isTrue();
            assertThat(store.file(FILE.id()).orElseThrow().etag()).contains(ETAG_TEXT);
            assertThat(isThere(store, FILE, 0, ETAG)).as("the binding of guests gave way").isFalse();
            assertThat(offer(store, FILE, 0, ETAG)).isTrue();
            assertThat(offer(store, FILE, 1, ETAG + 1)).isFalse();
            assertThat(isThere(store, FILE, 0, ETAG)).isTrue();
            assertThat(store.gauges().ssdBlocks()).isEqualTo(1);
            store.dropGuests(FILE.id());
            assertThat(isThere(store, FILE, 0, ETAG)).as("a file that the origin bound is the origin's matter").isTrue();
            store.checkInvariants();
        }
    }

    @Test
    void bytesWithoutAnEtagFindNoGuestsInTheirWay()
            throws Exception
    {
        try (BlockStore store = open()) {
            assertThat(offer(store, FILE, 0, ETAG)).isTrue();
            assertThat(store.bind(FILE, Optional.empty(), false, "schema.table")).isTrue();
            assertThat(store.beginFill(FILE.id().block(1), BLOCK, ETags.NONE)).isPresent().get().satisfies(Fill::close);
            assertThat(isThere(store, FILE, 0, ETAG)).isFalse();
        }
    }

    @Test
    void dropsAndExpiryAreForGuestsAsWell()
            throws Exception
    {
        try (BlockStore store = open()) {
            offer(store, FILE, 0, ETAG);
            store.flushes().dropFile(FILE.id());
            assertThat(isThere(store, FILE, 0, ETAG)).isFalse();
            offer(store, FILE, 0, ETAG);
            store.dropGuests(FILE.id());
            assertThat(isThere(store, FILE, 0, ETAG)).isFalse();
            offer(store, FILE, 0, ETAG);
            clock.advance(Duration.ofHours(3));
            assertThat(isThere(store, FILE, 0, ETAG)).isFalse();
            assertThat(store.gauges().guestBytes()).isZero();
            store.checkInvariants();
        }
    }

    @Test
    void aFlushSinceTheyWereJudgedRefusesThem()
            throws Exception
    {
        byte[] bytes = TestingBlocks.bytes(FILE.id().block(0), ETAG, BLOCK);
        try (BlockStore store = open()) {
            long before = store.flushes().count();
            store.flushes().flush(FILE::equals);
            assertThat(store.offerGuest(FILE, 0, "schema.table", ETAG, checksum(bytes), ByteBuffer.wrap(bytes), before)).isFalse();
            assertThat(isThere(store, FILE, 0, ETAG)).isFalse();
            assertThat(store.gauges().files()).as("nor is its file known").isZero();
            assertThat(store.offerGuest(FILE, 0, "schema.table", ETAG, checksum(bytes), ByteBuffer.wrap(bytes), store.flushes().count())).isTrue();
            assertThat(isThere(store, FILE, 0, ETAG)).isTrue();
            store.checkInvariants();
        }
    }

    @Test
    void whatDoesNotVerifyIsNotKept()
            throws Exception
    {
        try (BlockStore store = open()) {
            byte[] bytes = TestingBlocks.bytes(FILE.id().block(0), ETAG, BLOCK);
            assertThat(store.offerGuest(FILE, 0, "schema.table", ETAG, checksum(bytes) + 1, ByteBuffer.wrap(bytes))).isFalse();
            assertThat(isThere(store, FILE, 0, ETAG)).isFalse();
            assertThatThrownBy(() -> store.offerGuest(FILE, 0, "schema.table", ETAG, 0, ByteBuffer.allocate(10))).isInstanceOf(IllegalArgumentException.class);
            assertThat(store.gauges().guestBytes()).isZero();
            store.checkInvariants();
        }
    }
}
