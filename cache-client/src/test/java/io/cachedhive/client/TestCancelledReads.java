package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.OriginStatus;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static io.cachedhive.client.ReadFixture.PATIENT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A query that is cancelled interrupts its threads wherever they are. That must cost nobody else anything: a channel that is closed by an interrupt
 * would be everybody's.
 */
class TestCancelledReads
{
    private static final int CANCELS = 1000;

    @Test
    void testInterruptWhileWaiting()
            throws Exception
    {
        try (ReadFixture fixture = new ReadFixture()) {
            fixture.listen();
            CountDownLatch asked = new CountDownLatch(1);
            fixture.local.reads = (_, _) -> asked.countDown();
            CacheClient client = fixture.connected(fixture.client());
            CachedFile file = fixture.open(client);
            AtomicReference<Throwable> failure = new AtomicReference<>();
            AtomicReference<Boolean> interrupted = new AtomicReference<>();
            Thread reader = Thread.ofPlatform().start(() -> {
                try {
                    file.readFully(0, new byte[100], 0, 100);
                }
                catch (Throwable e) {
                    failure.set(e);
                    interrupted.set(Thread.currentThread().isInterrupted());
                }
            });
            asked.await();
            reader.interrupt();
            reader.join();
            assertThat(failure.get()).isInstanceOf(InterruptedIOException.class);
            assertThat(interrupted.get()).isTrue();
            // the worker need not go on for nobody
            Await.until("cancelled", () -> fixture.local.cancelled.size() == 1);
            fixture.assertSources(client, Map.of());
            assertThat(fixture.input.reads()).isEmpty();
            ReadFixture.assertIdle(client);
        }
    }

    @Test
    void testInterruptedBefore()
            throws Exception
    {
        try (ReadFixture fixture = new ReadFixture()) {
            fixture.listen();
            CacheClient client = fixture.connected(fixture.client());
            CachedFile file = fixture.open(client);
            fixture.local.share(fixture.file, 0);
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread reader = Thread.ofPlatform().start(() -> {
                Thread.currentThread().interrupt();
                try {
                    // what needs no waiting is not kept from anybody
                    fixture.assertReads(file, 0, 100);
                    assertThat(Thread.currentThread().isInterrupted()).isTrue();
                    file.readFully(BLOCK, new byte[100], 0, 100);
                }
                catch (Throwable e) {
                    failure.set(e);
                }
            });
            reader.join();
            assertThat(failure.get()).isInstanceOf(InterruptedIOException.class);
            fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, 100L));
            ReadFixture.assertIdle(client);
        }
    }

    @Test
    void testManyAtRandomMoments()
            throws Exception
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        try (ReadFixture fixture = new ReadFixture()) {
            // names with which each of the three owns a chunk
            TestingWorker other = fixture.worker("other");
            TestingWorker unable = fixture.worker("unable-2");
            PublishedRing ring = fixture.publish(Map.of(fixture.local, Optional.empty(), other, Optional.of(other.listenTcp()), unable, Optional.of(unable.listenTcp())));
            for (TestingWorker worker : List.of(fixture.local, other, unable)) {
                fixture.chunkOf(ring, worker);
            }
            // frames, bytes after a while, leases
            fixture.local.sharesMemory = true;
            other.source = Source.REMOTE;
            other.reads = (exchange, read) -> {
                exchange.fetching();
                LockSupport.parkNanos(500_000);
                exchange.answerAll(read);
            };
            unable.originStatus = OriginStatus.UNKNOWN;
            unable.reads = (exchange, read) -> {
                for (int block = read.firstBlock(); block < read.firstBlock() + read.blockCount(); block++) {
                    exchange.lease(block);
                }
            };
            for (TestingWorker worker : new TestingWorker[] {fixture.local, other}) {
                // leases have none
                worker.etagDigest = 0;
            }
            fixture.listen();
            CacheClient client = fixture.connected(fixture.client());
            CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
            fixture.assertReads(file, 0, fixture.bytes.length);
            int descriptors = descriptors();
            Set<String> threads = threadsWithoutHedges();

            AtomicInteger cancelled = new AtomicInteger();
            AtomicInteger finished = new AtomicInteger();
            AtomicLong finishedBytes = new AtomicLong(fixture.bytes.length);
            Semaphore atOnce = new Semaphore(16);
            Set<Throwable> failures = ConcurrentHashMap.newKeySet();
            Set<Thread> readers = ConcurrentHashMap.newKeySet();
            int started = 0;
            while (cancelled.get() < CANCELS) {
                atOnce.acquire();
                int position = random.nextInt(fixture.bytes.length - 1);
                int length = 1 + random.nextInt(Math.min(6 * BLOCK, fixture.bytes.length - position));
                Thread reader = Thread.ofPlatform().unstarted(() -> {
                    try {
                        fixture.assertReads(file, position, length);
                        finished.incrementAndGet();
                        finishedBytes.addAndGet(length);
                    }
                    catch (InterruptedIOException e) {
                        if (Thread.currentThread().isInterrupted()) {
                            cancelled.incrementAndGet();
                        }
                        else {
                            failures.add(e);
                        }
                    }
                    catch (IOException | RuntimeException | Error e) {
                        failures.add(e);
                    }
                    finally {
                        readers.remove(Thread.currentThread());
                        atOnce.release();
                    }
                });
                readers.add(reader);
                reader.start();
                started++;
                // others finish, however slow the machine is
                if (started % 8 != 0) {
                    // at once, while asking, while copying, or after the end
                    LockSupport.parkNanos(random.nextInt(400_000));
                    reader.interrupt();
                }
                assertThat(failures).isEmpty();
            }
            for (Thread reader : readers) {
                reader.join();
            }

            assertThat(failures).isEmpty();
            assertThat(finished).hasPositiveValue();
            // everybody else reads on, over the same connections
            fixture.assertReads(file, 0, fixture.bytes.length);
            assertThat(fixture.observer.totalBytes()).isEqualTo(finishedBytes.get() + fixture.bytes.length);
            // a worker that is slow on a busy machine may be hedged: that is no trouble of the connection
            assertThat(fixture.observer.bypassBytes()).satisfies(causes -> assertThat(causes.keySet()).isSubsetOf(BypassCause.HEDGED));
            assertThat(fixture.local.acceptedConnections()).isEqualTo(1);
            assertThat(other.acceptedConnections()).isEqualTo(1);
            assertThat(unable.acceptedConnections()).isEqualTo(1);
            ReadFixture.assertIdle(client);
            assertThat(threadsWithoutHedges()).isEqualTo(threads);
            // a few of the JVM's own come and go
            assertThat(descriptors()).isLessThanOrEqualTo(descriptors + 10);

            client.close();
            // an executor has ended a moment before its thread has
            Await.until("all threads ended", () -> clientThreads().isEmpty());
        }
    }

    @Test
    void testNothingIsLeftOfManyClients()
            throws Exception
    {
        try (ReadFixture fixture = new ReadFixture()) {
            fixture.listen();
            int before = descriptors();
            for (int i = 0; i < 50; i++) {
                CacheClient client = fixture.client(PATIENT);
                // also those that are closed before they were connected
                if (i % 2 == 0) {
                    fixture.connected(client);
                    fixture.assertReads(fixture.open(client), 0, 10);
                }
                client.close();
                client.close();
            }
            // an executor has ended a moment before its thread has
            Await.until("all threads ended", () -> clientThreads().isEmpty());
            assertThat(fixture.local.memory.mappings()).isZero();
            Await.until("disconnected", () -> fixture.local.openConnections() == 0);
            assertThat(descriptors()).isLessThanOrEqualTo(before + 10);
        }
    }

    private static int descriptors()
            throws IOException
    {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            return (int) files.count();
        }
    }

    /**
     * Those of hedges are made for the first one, if there is one.
     */
    private static Set<String> threadsWithoutHedges()
    {
        Set<String> names = clientThreads();
        names.removeIf(name -> name.contains("-hedge-"));
        return names;
    }

    private static Set<String> clientThreads()
    {
        Set<String> names = ConcurrentHashMap.newKeySet();
        Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("cachedhive-"))
                .forEach(names::add);
        return names;
    }
}
