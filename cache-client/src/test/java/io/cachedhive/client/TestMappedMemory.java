package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.client.local.MappedBlockMemory;
import io.cachedhive.protocol.checksum.MemoryChecksums;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.memory.HitVerification;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.memory.SharedMemoryWriter;
import io.cachedhive.protocol.memory.UnsafeFileException;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.ReadMessage.BlockFrame;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static io.cachedhive.client.ReadFixture.CHUNK;
import static io.cachedhive.client.ReadFixture.PATIENT;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Over a real file, as a worker writes it.
 */
class TestMappedMemory
{
    @Test
    void testReads()
            throws Exception
    {
        Path memoryFile = Files.createTempFile("cachedhive-memory", "");
        try (ReadFixture fixture = new ReadFixture(); Arena arena = Arena.ofShared()) {
            TestingWorker local = fixture.local;
            MemoryLayout layout = MemoryLayout.forFileSize(MemoryLayout.minFileSizeBytes(BLOCK), BLOCK);
            MemorySegment memory = map(memoryFile, layout, arena);
            SharedMemoryWriter writer = SharedMemoryWriter.format(memory, layout, local.memory.instance(), local.id());
            PublishedRing ring = ReadFixture.ring(Map.of(local, Optional.empty()), 1);
            writer.publishRings(List.of(ring));
            put(fixture, writer, 0, 0);
            int elsewhere = Math.toIntExact(layout.unitCount() - BLOCK / MemoryLayout.UNIT_BYTES);
            put(fixture, writer, 1, elsewhere);
            writer.setState(MemoryState.LIVE);
            local.memoryFile = memoryFile.toString();
            fixture.listen();

            try (CacheClient client = CacheClient.start(
                    new CacheClientConfig(fixture.socket, ReadFixture.identity(), CHUNK, CacheClientConfig.Limits.DEFAULT, PATIENT),
                    file -> MappedBlockMemory.open(file, HitVerification.ofThisMachine(), fixture.socket),
                    System::nanoTime)) {
                fixture.connected(client);
                assertThat(client.local().problem()).isEmpty();
                assertThat(client.newestRing()).contains(ring);
                CachedFile file = fixture.open(client);
                fixture.assertReads(file, 100, 2 * BLOCK - 200);
                fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, 2L * BLOCK - 200));
                assertThat(local.readRequests).isEmpty();

                // what the worker names is where it says
                local.reads = (exchange, read) -> exchange.send(new BlockFrame(
                        read.firstBlock(),
                        Source.SSD,
                        TestingWorker.ETAG,
                        BLOCK,
                        elsewhere,
                        layout.frameOffset(elsewhere),
                        4));
                writer.removeEntry(digest(fixture, 1).high(), digest(fixture, 1).low(), elsewhere);
                fixture.assertReads(file, BLOCK + 5, 10);
                assertThat(fixture.observer.bytes(ReadSource.SSD_HIT)).isEqualTo(10);
                assertThat(local.readRequests).hasSize(1);

                // and is no more once the frame is another's
                writer.withdrawFrame(elsewhere);
                TestingWorker.Reads frames = local.reads;
                local.reads = (exchange, read) -> {
                    if (read.inline()) {
                        exchange.answerAll(read);
                    }
                    else {
                        frames.answer(exchange, read);
                    }
                };
                fixture.assertReads(file, BLOCK, 10);
                assertThat(local.readRequests).hasSize(3);

                // a worker that gives its memory up
                writer.withdrawFrames(layout.slabCount());
                writer.setState(MemoryState.DEAD);
                local.reads = TestingWorker.Exchange::answerAll;
                Await.until("unmapped", () -> !isMapped(memoryFile, 1));
                fixture.assertReads(file, 0, 10);
                assertThat(fixture.observer.bytes(ReadSource.BYPASS)).isZero();
            }
        }
        finally {
            Files.delete(memoryFile);
        }
    }

    @Test
    void testForeignFile()
            throws Exception
    {
        Path memoryFile = Files.createTempFile("cachedhive-memory", "");
        Files.write(memoryFile, new byte[100_000]);
        try (ReadFixture fixture = new ReadFixture()) {
            fixture.local.memoryFile = memoryFile.toString();
            fixture.listen();
            try (CacheClient client = CacheClient.start(
                    new CacheClientConfig(fixture.socket, ReadFixture.identity(), CHUNK, CacheClientConfig.Limits.DEFAULT, PATIENT),
                    file -> MappedBlockMemory.open(file, HitVerification.ofThisMachine(), fixture.socket),
                    System::nanoTime)) {
                fixture.connected(client);
                fixture.assertReads(fixture.open(client), 0, 10);
                fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, 10L));
                assertThat(client.local().problem().orElseThrow()).contains(memoryFile.toString(), "cannot be mapped");
                assertThat(fixture.observer.bypassBytes()).doesNotContainKey(BypassCause.CORRUPT);
            }
        }
        finally {
            Files.delete(memoryFile);
        }
    }

    /**
     * The worker names a file that other users can change: it is refused, and reads use the socket.
     */
    @Test
    void testUnsafeFile()
            throws Exception
    {
        Path memoryFile = Files.createTempFile("cachedhive-memory", "");
        try (ReadFixture fixture = new ReadFixture(); Arena arena = Arena.ofShared()) {
            TestingWorker local = fixture.local;
            MemoryLayout layout = MemoryLayout.forFileSize(MemoryLayout.minFileSizeBytes(BLOCK), BLOCK);
            SharedMemoryWriter writer = SharedMemoryWriter.format(map(memoryFile, layout, arena), layout, local.memory.instance(), local.id());
            put(fixture, writer, 0, 0);
            writer.setState(MemoryState.LIVE);
            Files.setPosixFilePermissions(memoryFile, PosixFilePermissions.fromString("rw-rw-rw-"));
            local.memoryFile = memoryFile.toString();
            fixture.listen();
            try (CacheClient client = CacheClient.start(
                    new CacheClientConfig(fixture.socket, ReadFixture.identity(), CHUNK, CacheClientConfig.Limits.DEFAULT, PATIENT),
                    file -> MappedBlockMemory.open(file, HitVerification.ofThisMachine(), fixture.socket),
                    System::nanoTime)) {
                fixture.connected(client);
                fixture.assertReads(fixture.open(client), 0, 10);
                assertThat(local.readRequests).hasSize(1);
                assertThat(client.local().problem()).contains(("shared memory %s is refused, and all bytes come over the socket, because users other than its owner "
                        + "can write to it (mode 0666): remove the file, let only the cache worker's user write to cache.ram.directory, and restart the cache worker")
                        .formatted(memoryFile));
            }
        }
        finally {
            Files.delete(memoryFile);
        }
    }

    /**
     * A file of another user than the one who owns the socket is refused.
     */
    @Test
    void testForeignOwner()
            throws Exception
    {
        Path socket = Files.createTempFile("cachedhive-socket", "");
        Path memoryFile = Files.createTempFile("cachedhive-memory", "");
        try (Arena arena = Arena.ofShared()) {
            MemoryLayout layout = MemoryLayout.forFileSize(MemoryLayout.minFileSizeBytes(BLOCK), BLOCK);
            SharedMemoryWriter.format(map(memoryFile, layout, arena), layout, new Digest128(1, 2), new CacheWorkerId("worker")).setState(MemoryState.LIVE);
            MappedBlockMemory.open(memoryFile, HitVerification.ofThisMachine(), socket).close();

            assumeTrue("root".equals(System.getProperty("user.name")), "only root can give files to another user");
            Files.setAttribute(socket, "unix:uid", 65534);
            // the file of root is trusted for any owner of the socket
            MappedBlockMemory.open(memoryFile, HitVerification.ofThisMachine(), socket).close();
            Files.setAttribute(memoryFile, "unix:uid", 65533);
            assertThatThrownBy(() -> MappedBlockMemory.open(memoryFile, HitVerification.ofThisMachine(), socket))
                    .isInstanceOf(UnsafeFileException.class)
                    .hasMessage("it belongs to the user with the id 65533 instead of 65534");
            Files.setAttribute(memoryFile, "unix:uid", 65534);
            MappedBlockMemory.open(memoryFile, HitVerification.ofThisMachine(), socket).close();
        }
        finally {
            Files.delete(socket);
            Files.delete(memoryFile);
        }
    }

    private static MemorySegment map(Path file, MemoryLayout layout, Arena arena)
            throws IOException
    {
        try (FileChannel channel = FileChannel.open(file, CREATE, READ, WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, layout.fileSizeBytes(), arena);
        }
    }

    private static BlockKey digest(ReadFixture fixture, int block)
    {
        return fixture.file.id().block(block);
    }

    private static void put(ReadFixture fixture, SharedMemoryWriter writer, int block, int frame)
    {
        byte[] bytes = fixture.local.block(fixture.file, block);
        BlockKey key = digest(fixture, block);
        long generation = 4;
        writer.beginFrame(frame, generation);
        MemorySegment.copy(bytes, 0, writer.payload(frame, bytes.length), ValueLayout.JAVA_BYTE, 0, bytes.length);
        writer.publishFrame(frame, generation, key.high(), key.low(), TestingWorker.ETAG, MemoryChecksums.compute(MemorySegment.ofArray(bytes)));
        writer.putEntry(key.high(), key.low(), frame, generation);
    }

    /**
     * Whether more than the given number of mappings of the file are in this process: one of them is the worker's.
     */
    private static boolean isMapped(Path file, int others)
    {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.endsWith(file.toString())).count() > others;
        }
        catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
