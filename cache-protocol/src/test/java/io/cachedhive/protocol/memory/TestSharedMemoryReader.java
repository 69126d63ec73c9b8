package io.cachedhive.protocol.memory;

import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import static io.cachedhive.protocol.memory.TestingMemory.firstWrongByte;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestSharedMemoryReader
{
    private static final int BLOCK = 256 << 10;
    private static final long HIGH = 0x0123456789ABCDEFL;
    private static final long LOW = 0xFEDCBA9876543210L;
    private static final long ETAG = 77;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(HitVerification.class)
    void readsRangesOfABlock(HitVerification verification)
            throws IOException
    {
        int length = BLOCK - 5;
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file(), verification)) {
            memory.put(3, HIGH, LOW, length, ETAG);
            BlockInfo info = new BlockInfo();
            for (int offset : new int[] {0, 1, 4095, 4096, 131071, 131072, 131073, length - 1}) {
                for (int count : new int[] {0, 1, 4096, 131072, 131073, 200_000, length}) {
                    byte[] target = new byte[count + 20];
                    int read = reader.read(HIGH, LOW, offset, target, 10, count, info);
                    if (count > length - offset) {
                        assertThat(read).isEqualTo(-1);
                        continue;
                    }
                    assertThat(read).isEqualTo(count);
                    assertThat(firstWrongByte(target, 10, count, HIGH, LOW, offset)).isEqualTo(-1);
                    // nothing around the range is touched
                    assertThat(Arrays.copyOf(target, 10)).containsOnly(0);
                    assertThat(Arrays.copyOfRange(target, 10 + count, 20 + count)).containsOnly(0);
                    assertThat(info.etagDigest()).isEqualTo(ETAG);
                    assertThat(info.payloadLength()).isEqualTo(length);
                }
            }
            assertThat(reader.read(HIGH, LOW + 1, 0, new byte[1], 0, 1, info)).isEqualTo(-1);
            assertThat(reader.read(HIGH + 1, LOW, 0, new byte[1], 0, 1, info)).isEqualTo(-1);
            assertThat(reader.read(HIGH, LOW, -1, new byte[1], 0, 1, info)).isEqualTo(-1);
            assertThat(reader.read(HIGH, LOW, Integer.MAX_VALUE, new byte[1], 0, 1, info)).isEqualTo(-1);
            assertThatThrownBy(() -> reader.read(HIGH, LOW, 0, new byte[1], 0, 2, info)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> reader.read(HIGH, LOW, 0, new byte[1], 0, -1, info)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(reader.checksumFailures()).isZero();
        }
    }

    @Test
    void readsAFrameThatTheWorkerNamed()
            throws IOException
    {
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file())) {
            long generation = memory.put(64, HIGH, LOW, BLOCK, ETAG);
            long offset = memory.layout().frameOffset(64);
            byte[] target = new byte[1000];
            assertThat(reader.readFrame(64, offset, generation, HIGH, LOW, 500, target, 0, 1000)).isTrue();
            assertThat(firstWrongByte(target, 0, 1000, HIGH, LOW, 500)).isEqualTo(-1);

            assertThat(reader.readFrame(65, offset, generation, HIGH, LOW, 500, target, 0, 1000)).isFalse();
            assertThat(reader.readFrame(64, offset + 1, generation, HIGH, LOW, 500, target, 0, 1000)).isFalse();
            assertThat(reader.readFrame(64, offset, generation + 2, HIGH, LOW, 500, target, 0, 1000)).isFalse();
            assertThat(reader.readFrame(64, offset, 0, HIGH, LOW, 500, target, 0, 1000)).isFalse();
            assertThat(reader.readFrame(64, offset, generation, HIGH + 1, LOW, 500, target, 0, 1000)).isFalse();
            assertThat(reader.readFrame(64, offset, generation, HIGH, LOW + 1, 500, target, 0, 1000)).isFalse();
            for (int frame : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, (int) memory.layout().unitCount()}) {
                assertThat(reader.readFrame(frame, memory.layout().frameOffset(frame), generation, HIGH, LOW, 500, target, 0, 1000)).isFalse();
            }
        }
    }

    @Test
    void frameIsGoneOnceWithdrawnOrBegunAnew()
            throws IOException
    {
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file())) {
            BlockInfo info = new BlockInfo();
            byte[] target = new byte[100];
            long first = memory.put(0, HIGH, LOW, BLOCK, ETAG);
            memory.writer().beginFrame(0, first + 100);
            assertThat(reader.read(HIGH, LOW, 0, target, 0, 100, info)).isEqualTo(-1);
            // the generation that is shown while writing is no generation of a block
            assertThat(reader.readFrame(0, memory.layout().frameOffset(0), first + 99, HIGH, LOW, 0, target, 0, 100)).isFalse();

            memory.put(0, HIGH, LOW, BLOCK, ETAG);
            assertThat(reader.read(HIGH, LOW, 0, target, 0, 100, info)).isEqualTo(100);
            memory.writer().removeEntry(HIGH, LOW, 1);
            assertThat(reader.read(HIGH, LOW, 0, target, 0, 100, info)).isEqualTo(100);
            memory.writer().removeEntry(HIGH, LOW, 0);
            assertThat(reader.read(HIGH, LOW, 0, target, 0, 100, info)).isEqualTo(-1);

            memory.put(0, HIGH, LOW, BLOCK, ETAG);
            memory.writer().withdrawFrame(0);
            assertThat(reader.read(HIGH, LOW, 0, target, 0, 100, info)).isEqualTo(-1);

            memory.put(0, HIGH, LOW, BLOCK, ETAG);
            memory.writer().withdrawFrames(memory.layout().slabCount());
            assertThat(reader.read(HIGH, LOW, 0, target, 0, 100, info)).isEqualTo(-1);
        }
    }

    @Test
    void staleEntryIsAMiss()
            throws IOException
    {
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file())) {
            BlockInfo info = new BlockInfo();
            byte[] target = new byte[100];
            long old = memory.put(0, HIGH, LOW, BLOCK, ETAG);
            // the frame goes to another block, the old entry stays
            long generation = memory.put(0, HIGH + 1, LOW + 1, BLOCK, ETAG);
            assertThat(reader.read(HIGH, LOW, 0, target, 0, 100, info)).isEqualTo(-1);
            assertThat(reader.read(HIGH + 1, LOW + 1, 0, target, 0, 100, info)).isEqualTo(100);
            // even an entry with the right generation does not make it another block's frame
            memory.writer().putEntry(HIGH, LOW, 0, generation);
            assertThat(reader.read(HIGH, LOW, 0, target, 0, 100, info)).isEqualTo(-1);
            assertThat(old).isNotEqualTo(generation);
        }
    }

    @Test
    void believesNoNumberInTheMemory()
            throws IOException
    {
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file())) {
            BlockInfo info = new BlockInfo();
            byte[] target = new byte[100];
            long generation = memory.put(0, HIGH, LOW, BLOCK, ETAG);
            for (int length : new int[] {-1, Integer.MIN_VALUE, BLOCK + 1, Integer.MAX_VALUE}) {
                memory.memory().set(MemoryLayout.INT, memory.layout().headerOffset(0) + MemoryLayout.FRAME_LENGTH_OFFSET, length);
                assertThat(reader.read(HIGH, LOW, 0, target, 0, 100, info)).isEqualTo(-1);
            }
            memory.memory().set(MemoryLayout.INT, memory.layout().headerOffset(0) + MemoryLayout.FRAME_LENGTH_OFFSET, BLOCK);
            assertThat(reader.read(HIGH, LOW, 0, target, 0, 100, info)).isEqualTo(100);

            long bucket = MemoryLayout.bucketOffset(memory.layout().indexOffset(), memory.layout().bucketCount(), LOW);
            for (long frame : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, Integer.MAX_VALUE, memory.layout().unitCount()}) {
                memory.memory().set(MemoryLayout.LONG, bucket + MemoryLayout.ENTRY_FRAME_OFFSET, frame);
                assertThat(reader.read(HIGH, LOW, 0, target, 0, 100, info)).isEqualTo(-1);
            }

            // a block that would reach beyond the last frame
            int last = (int) memory.layout().unitCount() - 1;
            memory.writer().beginFrame(last, generation + 2);
            memory.writer().publishFrame(last, generation + 2, HIGH, LOW, ETAG, new PieceChecksums(0, 4097, new int[1]));
            assertThat(reader.readFrame(last, memory.layout().frameOffset(last), generation + 2, HIGH, LOW, 4096, target, 0, 1)).isFalse();
        }
    }

    @Test
    void fullBucketIsToldToTheWriter()
            throws IOException
    {
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file())) {
            for (int i = 0; i < 8; i++) {
                assertThat(memory.writer().putEntry(HIGH + i, LOW, i, 2)).isTrue();
            }
            assertThat(memory.writer().putEntry(HIGH + 8, LOW, 8, 2)).isFalse();
            // the same block again replaces its entry
            assertThat(memory.writer().putEntry(HIGH + 3, LOW, 9, 2)).isTrue();
            memory.writer().removeEntry(HIGH + 5, LOW, 5);
            memory.put(16, HIGH + 8, LOW, 100, ETAG);
            assertThat(reader.read(HIGH + 8, LOW, 0, new byte[100], 0, 100, new BlockInfo())).isEqualTo(100);
        }
    }

    @Test
    void headerIsTold()
            throws IOException
    {
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file())) {
            assertThat(reader.instance()).isEqualTo(TestingMemory.INSTANCE);
            assertThat(reader.workerId()).isEqualTo(TestingMemory.WORKER);
            assertThat(reader.blockSizeBytes()).isEqualTo(BLOCK);
            memory.writer().setHeartbeat(12345);
            assertThat(reader.heartbeatMillis()).isEqualTo(12345);
            for (MemoryState state : MemoryState.values()) {
                memory.writer().setState(state);
                assertThat(reader.state()).isEqualTo(state);
            }
            memory.memory().set(MemoryLayout.INT, MemoryLayout.STATE_OFFSET, 99);
            assertThat(reader.state()).isEqualTo(MemoryState.DEAD);
        }
    }

    @Test
    void ringsComeBackInTheirOrder()
            throws IOException
    {
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file())) {
            assertThat(reader.rings()).isEmpty();
            long sequence = reader.ringsSequence();
            List<PublishedRing> rings = IntStream.range(0, 20).mapToObj(i -> ring(i + 1, 1000 - i)).toList();
            memory.writer().publishRings(rings);
            assertThat(reader.rings()).isEqualTo(rings.subList(0, 16));
            assertThat(reader.ringsSequence()).isNotEqualTo(sequence);
            memory.writer().publishRings(List.of(ring(500, 3), ring(2, 2)));
            assertThat(reader.rings()).containsExactly(ring(500, 3), ring(2, 2));
            // too large for a slot: left out
            memory.writer().publishRings(List.of(ring("x".repeat(50), 4000, 3), ring(2, 2)));
            assertThat(reader.rings()).containsExactly(ring(2, 2));
        }
    }

    @Test
    void ringsOfAWorkerThatDiedWhilePublishing()
            throws IOException
    {
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file())) {
            memory.writer().publishRings(List.of(ring(3, 3), ring(2, 2)));
            memory.memory().set(MemoryLayout.LONG, MemoryLayout.RINGS_SEQUENCE_OFFSET, 77);
            memory.memory().set(ValueLayout.JAVA_BYTE, MemoryLayout.RING_SLOTS_OFFSET + 30, (byte) 0x55);
            assertThat(reader.rings()).containsExactly(ring(2, 2));
        }
    }

    @Test
    void readsWhileRingsArePublished()
            throws Exception
    {
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file())) {
            // each publication has rings of one time only: a mixture would show
            memory.writer().publishRings(rings(1));
            AtomicReference<String> failure = new AtomicReference<>();
            CountDownLatch done = new CountDownLatch(1);
            AtomicInteger reads = new AtomicInteger();
            Thread thread = Thread.ofPlatform().start(() -> {
                while (done.getCount() > 0) {
                    long start = System.nanoTime();
                    List<PublishedRing> rings = reader.rings();
                    boolean gaveUp = System.nanoTime() - start > 100_000_000;
                    reads.incrementAndGet();
                    if (gaveUp) {
                        // the writer lost its processor in the middle: what is there then may be of two lists
                        continue;
                    }
                    long time = rings.getFirst().publishedMillis();
                    if (!rings.equals(rings(time))) {
                        failure.set("mixed: " + rings);
                        return;
                    }
                }
            });
            for (int i = 0; i < 300 && failure.get() == null; i++) {
                int before = reads.get();
                memory.writer().publishRings(rings(i % 5 + 1));
                while (reads.get() == before && failure.get() == null) {
                    Thread.onSpinWait();
                }
            }
            done.countDown();
            thread.join();
            assertThat(failure.get()).isNull();
        }
    }

    private static List<PublishedRing> rings(long time)
    {
        return IntStream.range(0, 4).mapToObj(i -> ring(i + 1, time)).toList();
    }

    @ParameterizedTest
    @EnumSource(HitVerification.class)
    void tellsWhatWasFetchedAhead(HitVerification verification)
            throws IOException
    {
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file(), verification)) {
            memory.put(3, HIGH, LOW, 100, ETAG);
            BlockInfo info = new BlockInfo();
            for (boolean ahead : new boolean[] {false, true, false, true}) {
                memory.writer().setFetchedAhead(3, ahead);
                assertThat(reader.read(HIGH, LOW, 0, new byte[100], 0, 100, info)).isEqualTo(100);
                assertThat(info.fetchedAhead()).isEqualTo(ahead);
            }
            // the next block in the frame is not
            memory.put(3, HIGH + 1, LOW, 100, ETAG);
            assertThat(reader.read(HIGH + 1, LOW, 0, new byte[100], 0, 100, info)).isEqualTo(100);
            assertThat(info.fetchedAhead()).isFalse();
        }
    }

    private static PublishedRing ring(int members, long publishedMillis)
    {
        return ring("worker-", members, publishedMillis);
    }

    private static PublishedRing ring(String prefix, int members, long publishedMillis)
    {
        List<RingMember> list = new ArrayList<>();
        for (int i = 0; i < members; i++) {
            list.add(new RingMember(new CacheWorkerId(prefix + i), 100, Optional.empty()));
        }
        return new PublishedRing(HashRing.of(list), Map.of(new CacheWorkerId(prefix + 0), new WorkerAddress("127.0.0.2", 8484)), publishedMillis);
    }

    @Test
    void corruptBytesAreFoundWhereHitsAreVerified()
            throws IOException
    {
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file(), HitVerification.FULL);
                SharedMemoryReader sampling = SharedMemoryReader.open(memory.file(), HitVerification.SAMPLED)) {
            memory.put(0, HIGH, LOW, BLOCK, ETAG);
            long offset = memory.layout().frameOffset(0) + 200_000;
            memory.memory().set(ValueLayout.JAVA_BYTE, offset, (byte) (memory.memory().get(ValueLayout.JAVA_BYTE, offset) ^ 1));
            assertThat(reader.read(HIGH, LOW, 200_001, new byte[100], 0, 100, new BlockInfo())).isEqualTo(-1);
            assertThat(reader.read(HIGH, LOW, 0, new byte[BLOCK], 0, BLOCK, new BlockInfo())).isEqualTo(-1);
            assertThat(reader.checksumFailures()).isEqualTo(2);
            // pieces that a read does not touch are nothing to it
            int piece = 200_000 / PieceChecksums.PIECE_BYTES * PieceChecksums.PIECE_BYTES;
            assertThat(reader.read(HIGH, LOW, 0, new byte[BLOCK], 0, piece, new BlockInfo())).isEqualTo(piece);
            int rest = BLOCK - piece - PieceChecksums.PIECE_BYTES;
            assertThat(reader.read(HIGH, LOW, BLOCK - rest, new byte[BLOCK], 0, rest, new BlockInfo())).isEqualTo(rest);
            assertThat(reader.checksumFailures()).isEqualTo(2);
            // one hit in 8192: 0.9999 ^ 12 that none of 100 000 is
            BlockInfo info = new BlockInfo();
            byte[] target = new byte[100];
            for (int i = 0; i < 1_000_000 && sampling.checksumFailures() == 0; i++) {
                sampling.read(HIGH, LOW, 200_001, target, 0, 100, info);
            }
            assertThat(sampling.checksumFailures()).isPositive();
        }
    }

    @Test
    void closedReaderMisses()
            throws Exception
    {
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK)) {
            long generation = memory.put(0, HIGH, LOW, BLOCK, ETAG);
            memory.writer().publishRings(rings(1));
            SharedMemoryReader reader = SharedMemoryReader.open(memory.file());
            List<Thread> threads = new ArrayList<>();
            AtomicReference<Throwable> failure = new AtomicReference<>();
            CountDownLatch started = new CountDownLatch(3);
            for (int i = 0; i < 3; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    byte[] target = new byte[BLOCK];
                    BlockInfo info = new BlockInfo();
                    started.countDown();
                    try {
                        while (reader.read(HIGH, LOW, 0, target, 0, BLOCK, info) != -1) {
                            int wrong = firstWrongByte(target, 0, BLOCK, HIGH, LOW, 0);
                            if (wrong != -1) {
                                throw new AssertionError("wrong byte at " + wrong);
                            }
                        }
                    }
                    catch (Throwable e) {
                        failure.set(e);
                    }
                }));
            }
            started.await();
            reader.close();
            reader.close();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failure.get()).isNull();
            assertThat(reader.state()).isEqualTo(MemoryState.DEAD);
            assertThat(reader.heartbeatMillis()).isZero();
            assertThat(reader.rings()).isEmpty();
            assertThat(reader.readFrame(0, memory.layout().frameOffset(0), generation, HIGH, LOW, 0, new byte[1], 0, 1)).isFalse();
            assertThat(reader.workerId()).isEqualTo(TestingMemory.WORKER);
        }
    }

    @Test
    void fileCutShortIsAMiss()
            throws IOException
    {
        try (TestingMemory memory = TestingMemory.create(directory.resolve("memory"), BLOCK);
                SharedMemoryReader reader = SharedMemoryReader.open(memory.file());
                RandomAccessFile file = new RandomAccessFile(memory.file().toFile(), "rw")) {
            BlockInfo info = new BlockInfo();
            int frame = 3 * 64;
            memory.put(frame, HIGH, LOW, BLOCK, ETAG);
            assertThat(reader.read(HIGH, LOW, 0, new byte[BLOCK], 0, BLOCK, info)).isEqualTo(BLOCK);
            file.setLength(memory.layout().frameOffset(frame) + 8192);
            assertThat(reader.read(HIGH, LOW, 0, new byte[BLOCK], 0, BLOCK, info)).isEqualTo(-1);
        }
    }

    @Test
    void sampledOnlyWhereTheOrdersWereTested()
    {
        assertThat(HitVerification.of("amd64")).isEqualTo(HitVerification.SAMPLED);
        assertThat(HitVerification.of("x86_64")).isEqualTo(HitVerification.SAMPLED);
        assertThat(HitVerification.of("aarch64")).isEqualTo(HitVerification.FULL);
        assertThat(HitVerification.of("ppc64le")).isEqualTo(HitVerification.FULL);
    }
}
