package io.cachedhive.client;

import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.Timeouts;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static io.cachedhive.client.ReadFixture.BLOCKS;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever workers do, a read gives the file's bytes, and each of them is counted once.
 */
class TestRandomReads
{
    private static final int THREADS = 6;
    // many answers do not come, and whatever comes too late is right all the same
    private static final Timeouts HURRIED = new Timeouts(300, 1000, 100, 200);
    private static final int READS = 400;

    @Test
    void testWorkersThatDoAnything()
            throws Exception
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        try (ReadFixture fixture = new ReadFixture()) {
            TestingWorker other = fixture.worker("other");
            PublishedRing ring = fixture.publish(Map.of(fixture.local, Optional.empty(), other, Optional.of(other.listenTcp())));
            fixture.local.reads = TestRandomReads::doAnything;
            other.reads = TestRandomReads::doAnything;
            fixture.listen();
            CacheClient client = fixture.connected(fixture.client(HURRIED));

            long[] requested = new long[THREADS];
            try (ExecutorService executor = Executors.newFixedThreadPool(THREADS)) {
                List<Future<?>> readers = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    int thread = i;
                    Random random = new Random(seed + i);
                    Callable<?> reader = () -> {
                        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
                        for (int j = 0; j < READS; j++) {
                            if (random.nextInt(20) == 0) {
                                // the last input may have seen two states
                                file = fixture.open(client, Optional.of(ring.epoch()), random.nextBoolean());
                            }
                            int position = random.nextInt(fixture.bytes.length);
                            int length = random.nextInt(Math.min(fixture.bytes.length - position, random.nextBoolean() ? 5000 : 5 * BLOCK) + 1);
                            try {
                                fixture.assertReads(file, position, length);
                                requested[thread] += length;
                            }
                            catch (FileReplacedException _) {
                                // a worker said so, or had two states, after bytes of the first were delivered: no further split is affected
                                file = fixture.open(client, Optional.of(ring.epoch()), true);
                            }
                            // an engine that finds its thread interrupted fails its next read, of whatever
                            assertThat(Thread.currentThread().isInterrupted()).as("a read left its thread interrupted").isFalse();
                            if (random.nextInt(20) != 0) {
                                // otherwise most reads would fall into the moments without a worker
                                Await.until("connected", () -> client.local().connected());
                            }
                            if (random.nextInt(10) == 0) {
                                fixture.local.share(fixture.file, random.nextInt(BLOCKS));
                            }
                            if (random.nextInt(50) == 0) {
                                fixture.local.memory.clear();
                            }
                        }
                        return null;
                    };
                    readers.add(executor.submit(reader));
                }
                for (Future<?> reader : readers) {
                    reader.get();
                }
            }

            long total = 0;
            for (long bytes : requested) {
                total += bytes;
            }
            assertThat(fixture.observer.totalBytes()).isEqualTo(total);
            long counted = 0;
            for (ReadSource source : ReadSource.values()) {
                System.out.printf("%s: %s bytes in %s reads%n", source, fixture.observer.bytes(source), fixture.observer.requests(source));
                counted += client.counters().get(source.bytesCounter());
            }
            System.out.println(fixture.observer.bypassBytes());
            assertThat(counted).isEqualTo(total);
            assertThat(fixture.observer.bytes(ReadSource.RAM_HIT)).isPositive();
            assertThat(fixture.observer.bytes(ReadSource.NON_LOCAL_HIT)).isPositive();
            assertThat(fixture.observer.bytes(ReadSource.REMOTE_READ)).isPositive();
            assertThat(fixture.observer.bypassBytes().values().stream().mapToLong(Long::longValue).sum())
                    .isEqualTo(fixture.observer.bytes(ReadSource.BYPASS))
                    .isEqualTo(client.counters().get(CounterNames.BYPASS_BYTES));
            Await.untilAsserted("the usage is reported", () -> assertThat(fixture.local.totals()).isEqualTo(ReadFixture.counted(client)));
            ReadFixture.assertIdle(client);
        }
    }

    private static void doAnything(TestingWorker.Exchange exchange, ReadMessage.Read read)
            throws IOException
    {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        int last = read.firstBlock() + read.blockCount() - 1;
        switch (random.nextInt(300)) {
            case 0 -> {}
            case 1 -> exchange.no(last, NoCause.values()[random.nextInt(NoCause.values().length)]);
            case 2 -> exchange.disconnect();
            case 3 -> exchange.write(new byte[] {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9});
            case 4 -> {
                for (int block = read.firstBlock(); block <= last; block++) {
                    exchange.answer(block, block % 2 == 0 ? 42 : 43);
                }
            }
            case 5 -> exchange.send(new ControlMessage.Error("not today"));
            case 6 -> exchange.send(new ReadMessage.BlockFrame(read.firstBlock(), Source.RAM, 42, BLOCK, 1, 2, 3));
            case 7 -> {
                // half of it, then nothing
                if (read.blockCount() > 1) {
                    exchange.answer(last);
                }
                exchange.fetching();
            }
            case 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 -> {
                exchange.fetching();
                for (int block = last; block >= read.firstBlock(); block--) {
                    exchange.answer(block, Source.REMOTE, 42);
                }
            }
            case 20, 21, 22, 23, 24, 25, 26, 27, 28, 29 -> {
                if (read.mayLease()) {
                    for (int block = read.firstBlock(); block <= last; block++) {
                        exchange.lease(block);
                    }
                }
                else {
                    exchange.no(last, NoCause.ABSENT);
                }
            }
            case 30, 31, 32, 33, 34, 35 -> {
                // one bit anywhere in what is requested
                int length = read.range().length(read.firstBlock(), read.file().blockLength(read.firstBlock(), BLOCK));
                exchange.answerFlipped(read.firstBlock(), random.nextInt(length));
                for (int block = read.firstBlock() + 1; block <= last; block++) {
                    exchange.answer(block);
                }
            }
            case 36, 37, 38 -> {
                // right bytes, but of another range
                int length = read.file().blockLength(read.firstBlock(), BLOCK);
                int offset = random.nextInt(length);
                exchange.sendPart(read.firstBlock(), offset, random.nextInt(length - offset + 1));
            }
            default -> exchange.answerAll(read);
        }
    }
}
