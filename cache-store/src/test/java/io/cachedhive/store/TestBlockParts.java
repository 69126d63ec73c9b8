package io.cachedhive.store;

import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.checksum.PieceVerifier;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.zip.CRC32C;

import static io.cachedhive.protocol.checksum.PieceChecksums.PIECE_BYTES;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Parts of blocks as they are sent to other hosts, with their checksums.
 */
class TestBlockParts
{
    private static final int BLOCK = 4 * PIECE_BYTES;
    private static final String ETAG_TEXT = "etag";
    private static final long ETAG = ETags.digest(ETAG_TEXT);
    // whole blocks, and last blocks of all kinds
    private static final List<FileVersion> FILES = List.of(
            TestingBlocks.file(1, 2 * BLOCK),
            TestingBlocks.file(2, BLOCK + 1),
            TestingBlocks.file(3, 3 * PIECE_BYTES),
            TestingBlocks.file(4, 2 * PIECE_BYTES + 5000),
            TestingBlocks.file(5, PIECE_BYTES - 1),
            TestingBlocks.file(6, 100));

    @TempDir
    private Path directory;

    private final FakeDisk disk = new FakeDisk();

    private StoreConfig ramOnly;
    private StoreConfig config;

    @BeforeEach
    void makeDirectories()
            throws IOException
    {
        ramOnly = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 16 << 20);
        config = ramOnly.withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd")), new Capacity.Bytes(16 << 20))));
    }

    private BlockStore open(StoreConfig config)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(disk).withClock(new FastClock()));
    }

    private static byte[] bytes(FileVersion file, int block)
    {
        return TestingBlocks.bytes(file.id().block(block), ETAG, file.blockLength(block, BLOCK));
    }

    private static void fill(BlockStore store, FileVersion file, int block)
    {
        assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
        Fill fill = store.beginFill(file.id().block(block), file.blockLength(block, BLOCK), ETAG).orElseThrow();
        fill.buffer().put(bytes(file, block));
        fill.commit().orElseThrow().close();
    }

    private static void assertParts(BlockStore store, Random random, BlockOrigin tier)
    {
        for (FileVersion file : FILES) {
            for (int block = 0; block < file.blockCount(BLOCK); block++) {
                byte[] expected = bytes(file, block);
                try (PinnedBlock pinned = store.load(file.id().block(block)).orElseThrow()) {
                    assertThat(pinned.tier()).isEqualTo(tier);
                    for (int i = 0; i < 50; i++) {
                        int offset = random.nextInt(4) == 0 ? random.nextInt(expected.length) / PIECE_BYTES * PIECE_BYTES : random.nextInt(expected.length);
                        int length = random.nextInt(4) == 0 ? expected.length - offset : 1 + random.nextInt(expected.length - offset);
                        assertPart(pinned, expected, offset, length);
                    }
                    assertPart(pinned, expected, 0, expected.length);
                }
            }
        }
    }

    private static void assertPart(PinnedBlock pinned, byte[] expected, int offset, int length)
    {
        PieceChecksums checksums = pinned.checksums(offset, length).orElseThrow();
        assertThat(checksums.offset()).isEqualTo(offset);
        assertThat(checksums.length()).isEqualTo(length);
        byte[] part = TestingBlocks.copy(pinned.payload().slice(offset, length));
        assertThat(part).isEqualTo(Arrays.copyOfRange(expected, offset, offset + length));
        PieceVerifier verifier = new PieceVerifier(checksums);
        verifier.update(ByteBuffer.wrap(part));
        assertThat(verifier.isVerified()).isTrue();
    }

    @Test
    void partsOfFilledAndLoadedBlocks()
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        try (BlockStore store = open(config)) {
            for (FileVersion file : FILES) {
                for (int block = 0; block < file.blockCount(BLOCK); block++) {
                    fill(store, file, block);
                }
            }
            assertParts(store, random, BlockOrigin.RAM);
            store.ssd().drain();
        }
        try (BlockStore store = open(config)) {
            assertThat(store.awaitRestored(Duration.ofSeconds(60))).isTrue();
            assertParts(store, random, BlockOrigin.SSD);
            assertParts(store, random, BlockOrigin.RAM);
        }
    }

    @Test
    void partsOfGuests()
            throws Exception
    {
        FileVersion file = FILES.getFirst();
        byte[] bytes = bytes(file, 1);
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        try (BlockStore store = open(config)) {
            assertThat(store.offerGuest(file, 1, "schema.table", ETAG, (int) checksum.getValue(), ByteBuffer.wrap(bytes))).isTrue();
            try (PinnedBlock pinned = store.pin(file.id().block(1)).orElseThrow()) {
                assertPart(pinned, bytes, PIECE_BYTES - 1, PIECE_BYTES + 2);
                assertPart(pinned, bytes, 0, BLOCK);
            }
        }
    }

    @Test
    void damagedPieceLeavesRam()
            throws Exception
    {
        FileVersion file = FILES.getFirst();
        BlockKey key = file.id().block(0);
        try (BlockStore store = open(ramOnly)) {
            for (int piece = 0; piece < BLOCK / PIECE_BYTES; piece++) {
                fill(store, file, 0);
                int start = piece * PIECE_BYTES;
                try (PinnedBlock pinned = store.pin(key).orElseThrow(); RandomAccessFile memory = new RandomAccessFile(store.memoryFile().toFile(), "rw")) {
                    long damaged = pinned.frameOffset() + start + 777;
                    memory.seek(damaged);
                    int before = memory.read();
                    memory.seek(damaged);
                    memory.write(before ^ 16);

                    // other pieces can still be sent, and this one as a whole, whose receiver finds the damage
                    int other = (piece + 1) % (BLOCK / PIECE_BYTES) * PIECE_BYTES;
                    assertPart(pinned, bytes(file, 0), other + 5, 100);
                    PieceVerifier receiver = new PieceVerifier(pinned.checksums(start, PIECE_BYTES).orElseThrow());
                    receiver.update(ByteBuffer.wrap(TestingBlocks.copy(pinned.payload().slice(start, PIECE_BYTES))));
                    assertThat(receiver.isVerified()).isFalse();
                    assertThat(store.gauges().ramBlocks()).isEqualTo(1);

                    // a part of it cannot, whether the damage is in that part or not
                    assertThat(pinned.checksums(start + 1000, 100)).isEmpty();
                    assertThat(store.gauges().ramBlocks()).isZero();
                    assertThat(pinned.checksums(start + 700, 100)).isEmpty();
                    assertThat(store.gauges().corruptBlocks()).isEqualTo(piece + 1);
                }
                assertThat(store.pin(key)).isEmpty();
                store.checkInvariants();
            }
        }
    }
}
