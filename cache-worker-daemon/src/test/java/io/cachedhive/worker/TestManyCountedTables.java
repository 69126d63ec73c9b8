package io.cachedhive.worker;

import io.cachedhive.client.CacheClient;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.protocol.wire.StatusMessage.Tables;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.worker.testing.TestingWorker;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A client and a cache worker that count 100,000 tables. The test decides by counts of work; the figures that it prints are for the budgets.
 */
@Tag("exhaustive")
@Timeout(600)
class TestManyCountedTables
{
    private static final int TABLES = 100_000;
    private static final int IDLE_SECONDS = 20;
    private static final Timeouts PATIENT = new Timeouts(30_000, 60_000, 100, 1000);

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    @TempDir
    private Path directory;

    @Test
    void testHundredThousandTables()
            throws Exception
    {
        TestingWorker worker = new TestingWorker(directory).start();
        ClientIdentity identity = new ClientIdentity("cluster", "lake", "node", worker.origins(), TestingWorker.SECRETS);
        CacheClient client = CacheClient.start(new CacheClientConfig(worker.socketPath(), identity, 8 << 20, CacheClientConfig.Limits.DEFAULT, PATIENT));
        try (worker; client) {
            Await.until("connected", () -> client.local().connected());
            long begin = System.nanoTime();
            for (int i = 0; i < TABLES; i++) {
                client.counters().addRequested(name(i), 1);
            }
            System.out.printf("%s tables counted in %s ms%n", TABLES, millisSince(begin));
            Await.until("reported and forgotten", Duration.ofMinutes(5), () -> worker.service().usage().tableCount() == TABLES && client.counters().knownTables() == 0);
            System.out.printf("reported, written and forgotten after %s ms; file of %s bytes%n", millisSince(begin), Files.size(directory.resolve("state").resolve("counters")));

            long visits = client.counters().visits();
            System.out.printf("idle after %s tables: client CPU %.4f %% of a core%n", TABLES, idlePercent());
            assertThat(client.counters().visits()).isEqualTo(visits);

            readTables(worker, identity);

            worker.stop();
            Await.until("away", () -> !client.local().connected());
            for (int i = 0; i < TABLES; i++) {
                client.counters().addRequested(name(i), 1);
            }
            assertThat(client.counters().knownTables()).isEqualTo(TABLES);
            visits = client.counters().visits();
            System.out.printf("idle with %s tables that no cache worker has received: client CPU %.4f %% of a core%n", TABLES, idlePercent());
            assertThat(client.counters().visits()).isEqualTo(visits);
            worker.start();
            Await.until("reported", Duration.ofMinutes(5), () -> client.counters().knownTables() == 0);
            assertThat(worker.service().usage().totals()).containsEntry(CounterNames.REQUESTED_BYTES, 2L * TABLES);
        }
    }

    private static String name(int table)
    {
        return "schema_%03d.table_with_a_name_%06d".formatted(table % 100, table);
    }

    private void readTables(TestingWorker worker, ClientIdentity identity)
            throws Exception
    {
        WorkerAddress address = new WorkerAddress("127.0.0.1", worker.tcpAddress().getPort());
        AtomicBoolean stop = new AtomicBoolean();
        CountDownLatch pinged = new CountDownLatch(100);
        try (WorkerAdmin admin = WorkerAdmin.start(identity, Optional.empty(), PATIENT); ExecutorService executor = Executors.newSingleThreadExecutor()) {
            List<Long> pings = Collections.synchronizedList(new ArrayList<>());
            Future<?> pinging = executor.submit(() -> {
                while (!stop.get()) {
                    long start = System.nanoTime();
                    admin.ping(address).join();
                    pings.add(System.nanoTime() - start);
                    pinged.countDown();
                }
            });
            pinged.await();
            System.out.printf("pings alone: %s%n", quantiles(pings));

            pings.clear();
            List<Long> stats = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                long start = System.nanoTime();
                Stats answer = admin.stats(address).get();
                stats.add(System.nanoTime() - start);
                assertThat(answer.counters()).containsEntry(CounterNames.REQUESTED_BYTES, (long) TABLES);
                assertThat(answer.toFrame(1).remaining()).isLessThan(16 << 10);
            }
            System.out.printf("GET_STATS: %s; pings beside it: %s%n", quantiles(stats), quantiles(pings));

            for (int round = 0; round < 5; round++) {
                pings.clear();
                List<Long> pages = new ArrayList<>();
                long start = System.nanoTime();
                int tables = 0;
                int largest = 0;
                String after = "";
                while (true) {
                    long pageStart = System.nanoTime();
                    Tables page = admin.tables(address, after).get();
                    pages.add(System.nanoTime() - pageStart);
                    tables += page.tables().size();
                    largest = Math.max(largest, page.toFrame(1).remaining());
                    if (!page.more()) {
                        break;
                    }
                    after = page.tables().getLast().table();
                }
                assertThat(tables).isEqualTo(TABLES);
                assertThat(largest).isLessThan(Tables.PAGE_BYTES + 1000);
                System.out.printf("all tables: %s ms in %s pages of at most %s bytes (%s); pings beside them: %s%n",
                        millisSince(start),
                        pages.size(),
                        largest,
                        quantiles(pages),
                        quantiles(pings));
            }
            stop.set(true);
            pinging.get();
        }
    }

    private static String quantiles(List<Long> nanos)
    {
        List<Long> sorted = new ArrayList<>(nanos);
        Collections.sort(sorted);
        if (sorted.isEmpty()) {
            return "none";
        }
        return "median %.2f ms, 99 %% %.2f ms, longest %.2f ms of %s".formatted(
                sorted.get(sorted.size() / 2) / 1e6,
                sorted.get((int) (sorted.size() * 0.99)) / 1e6,
                sorted.getLast() / 1e6,
                sorted.size());
    }

    private static long millisSince(long startNanos)
    {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    }

    /**
     * The CPU time of the client's threads while there are no reads.
     */
    private double idlePercent()
            throws Exception
    {
        long before = clientNanos();
        long begin = System.nanoTime();
        // a measurement of a duration, on which nothing depends
        new CountDownLatch(1).await(IDLE_SECONDS, TimeUnit.SECONDS);
        return 100.0 * (clientNanos() - before) / (System.nanoTime() - begin);
    }

    private long clientNanos()
    {
        long nanos = 0;
        for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().startsWith("cachedhive-lake")) {
                nanos += threads.getThreadCpuTime(thread.getThreadId());
            }
        }
        return nanos;
    }
}
