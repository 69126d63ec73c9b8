package io.cachedhive.worker.usage;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.StatusMessage.Usage;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.DiskFile;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.worker.state.StateDirectory;
import io.cachedhive.worker.usage.UsageCounters.Account;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import static io.cachedhive.worker.usage.TestUsageCounters.batch;
import static io.cachedhive.worker.usage.TestUsageCounters.tables;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process that is killed leaves its files as they are: the next one opens them while the journal of the last one is still there.
 */
class TestUsageJournal
{
    private static final Account LAKE = new Account("cluster", "lake");
    private static final Digest128 CLIENT = new Digest128(1, 2);

    @TempDir
    private Path directory;

    private final ManualClock clock = new ManualClock();
    // what the thread that writes has not done yet
    private final Queue<Runnable> writes = new ArrayDeque<>();
    private final AtomicInteger acknowledged = new AtomicInteger();
    private Disk disk = new LocalDisk();

    private UsageJournal open()
    {
        writes.clear();
        return UsageJournal.open(new UsageCounters(clock), StateDirectory.open(directory, disk), clock, writes::add);
    }

    private void write()
    {
        while (!writes.isEmpty()) {
            writes.remove().run();
        }
    }

    private boolean add(UsageJournal journal, long batch, String table, long bytes)
    {
        return journal.add(LAKE, batch(CLIENT, batch, table, bytes), acknowledged::incrementAndGet);
    }

    private static Map<String, Long> counted(long bytes, long requests)
    {
        return Map.of("ram_hit_bytes", bytes, "requests", requests);
    }

    @Test
    void testAcknowledgedBatchesSurviveAKill()
    {
        UsageJournal journal = open();
        assertThat(add(journal, 1, "s.a", 10)).isTrue();
        assertThat(acknowledged).hasValue(0);
        write();
        assertThat(acknowledged).hasValue(1);
        assertThat(add(journal, 2, "s.a", 1000)).isTrue();
        // a client that waits no longer sends it again: it is not acknowledged before it is written
        assertThat(add(journal, 2, "s.a", 1000)).isFalse();
        assertThat(acknowledged).hasValue(1);

        // killed before the second batch was written and acknowledged
        long since = journal.counters().sinceMillis();
        clock.advance(Duration.ofHours(1));
        UsageJournal restarted = open();
        assertThat(restarted.counters().sinceMillis()).isEqualTo(since);
        assertThat(tables(restarted.counters(), LAKE)).isEqualTo(Map.of("s.a", counted(10, 1)));
        assertThat(restarted.counters().totals()).isEqualTo(counted(10, 1));
        assertThat(add(restarted, 1, "s.a", 10)).isFalse();
        assertThat(add(restarted, 2, "s.a", 1000)).isTrue();
        write();
        assertThat(acknowledged).hasValue(3);

        // killed after it was written, before the reply arrived
        restarted = open();
        assertThat(add(restarted, 2, "s.a", 1000)).isFalse();
        assertThat(restarted.counters().totals(LAKE)).isEqualTo(counted(1010, 2));
    }

    @Test
    void testHitsAloneAreAcknowledgedAtOnce()
    {
        UsageJournal journal = open();
        journal.save();
        long written = journal.writtenBytes();
        assertThat(journal.add(LAKE, new Usage(CLIENT, 1, Map.of(), List.of(CLIENT)), acknowledged::incrementAndGet)).isTrue();
        assertThat(acknowledged).hasValue(1);
        write();
        journal.maintain();
        assertThat(journal.writtenBytes()).isEqualTo(written);
    }

    @Test
    void testWritesWhatChanged()
            throws IOException
    {
        UsageJournal journal = open();
        for (int i = 0; i < 10_000; i++) {
            add(journal, i + 1, "s.table" + i, 1);
        }
        write();
        assertThat(acknowledged).hasValue(10_000);
        long all = journal.writtenBytes();
        long size = Files.size(directory.resolve(UsageJournal.FILE));
        assertThat(size).isGreaterThan(10_000 * 40);
        assertThat(all).isLessThan(3 * size);

        add(journal, 10_001, "s.table7", 1);
        write();
        assertThat(journal.writtenBytes() - all).isBetween(50L, 500L);

        long before = journal.writtenBytes();
        for (int second = 0; second < 100; second++) {
            clock.advance(Duration.ofSeconds(1));
            journal.maintain();
        }
        assertThat(journal.writtenBytes()).isEqualTo(before);
    }

    @Test
    void testFileIsBounded()
            throws IOException
    {
        UsageJournal journal = open();
        long largest = 0;
        int batches = 20_000;
        for (int i = 0; i < batches; i++) {
            add(journal, i + 1, "s.table" + i % 100, 1);
            write();
            largest = Math.max(largest, Files.size(directory.resolve(UsageJournal.FILE)));
        }
        assertThat(journal.writtenBytes()).as("several times rewritten").isGreaterThan(2 * UsageJournal.MIN_REWRITE_BYTES);
        assertThat(largest).isLessThan(UsageJournal.MIN_REWRITE_BYTES + 1000);
        UsageJournal restarted = open();
        assertThat(tables(restarted.counters(), LAKE)).hasSize(100).containsEntry("s.table7", counted(200, 200));
        assertThat(restarted.counters().totals()).isEqualTo(counted(batches, batches));
    }

    /**
     * Batches that arrive while the file is rewritten are neither lost nor counted twice, wherever the process is killed.
     */
    @Test
    void testKilledAtEachStep()
            throws IOException
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("cachedhive.test.seed=" + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 60; round++) {
            killAfter(random, 1 + random.nextInt(60));
        }
    }

    private void killAfter(Random random, int operations)
            throws IOException
    {
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Map<Digest128, Usage> unanswered = new HashMap<>();
        Map<Digest128, Long> numbers = new HashMap<>();
        long[] sent = {0};
        UsageJournal[] journal = {null};
        // a batch arrives before each operation of the disk, also in the middle of a rewrite
        AtomicInteger left = new AtomicInteger(operations);
        AtomicInteger depth = new AtomicInteger();
        Runnable arrival = () -> {
            if (journal[0] == null || depth.get() > 0) {
                return;
            }
            depth.incrementAndGet();
            Digest128 client = new Digest128(7, random.nextInt(3));
            Usage usage = unanswered.get(client);
            if (usage == null) {
                long number = numbers.merge(client, 1L, Long::sum);
                sent[0] += number;
                usage = batch(client, number, "s.table" + random.nextInt(5), number);
                unanswered.put(client, usage);
            }
            Usage batch = usage;
            journal[0].add(LAKE, batch, () -> unanswered.remove(client, batch));
            depth.decrementAndGet();
        };
        disk = interrupted(() -> {
            arrival.run();
            if (left.getAndDecrement() == 0) {
                throw new Killed();
            }
        });
        try {
            journal[0] = open();
            while (true) {
                arrival.run();
                write();
                journal[0].maintain();
                if (random.nextInt(10) == 0) {
                    journal[0].rewriteSoon();
                }
            }
        }
        catch (Killed e) {
            // as kill -9: nothing after this reaches the disk
        }
        disk = new LocalDisk();
        UsageJournal restarted = open();
        journal[0] = restarted;
        for (Map.Entry<Digest128, Usage> entry : Map.copyOf(unanswered).entrySet()) {
            restarted.add(LAKE, entry.getValue(), () -> unanswered.remove(entry.getKey()));
        }
        write();
        assertThat(unanswered).isEmpty();
        assertThat(restarted.counters().totals(LAKE).getOrDefault("ram_hit_bytes", 0L)).as("killed after %s operations", operations).isEqualTo(sent[0]);
        long ofTables = tables(restarted.counters(), LAKE).values().stream().mapToLong(table -> table.get("ram_hit_bytes")).sum();
        assertThat(ofTables).isEqualTo(sent[0]);
    }

    private static final class Killed
            extends Error
    {
        private static final long serialVersionUID = 1;
    }

    /**
     * The local disk, with a task before each change.
     */
    private static Disk interrupted(Runnable before)
    {
        Disk disk = new LocalDisk();
        return (Disk) Proxy.newProxyInstance(TestUsageJournal.class.getClassLoader(), new Class<?>[] {Disk.class}, (proxy, method, arguments) -> {
            if (method.isDefault()) {
                return InvocationHandler.invokeDefault(proxy, method, arguments);
            }
            if (List.of("open", "rename", "syncDirectory").contains(method.getName())) {
                before.run();
            }
            Object result = invoke(disk, method, arguments);
            if (result instanceof DiskFile file) {
                return Proxy.newProxyInstance(TestUsageJournal.class.getClassLoader(), new Class<?>[] {DiskFile.class}, (fileProxy, called, values) -> {
                    if (called.isDefault()) {
                        return InvocationHandler.invokeDefault(fileProxy, called, values);
                    }
                    if (List.of("write", "sync").contains(called.getName())) {
                        before.run();
                    }
                    return invoke(file, called, values);
                });
            }
            return result;
        });
    }

    private static Object invoke(Object target, Method method, Object[] arguments)
            throws Throwable
    {
        try {
            return method.invoke(target, arguments);
        }
        catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Test
    void testDamagedFile()
            throws IOException
    {
        UsageJournal journal = open();
        add(journal, 1, "s.a", 10);
        write();
        Path file = directory.resolve(UsageJournal.FILE);
        int first = (int) Files.size(file);
        add(journal, 2, "s.b", 20);
        write();
        journal.close();
        byte[] right = Files.readAllBytes(file);
        assertThat(right.length).isGreaterThan(first);
        for (int i = 0; i < right.length; i++) {
            byte[] wrong = right.clone();
            wrong[i] ^= 0x10;
            Files.write(file, wrong);
            // what is before the damage
            assertThat(tables(open().counters(), LAKE)).as("byte %s", i).satisfiesAnyOf(
                    tables -> assertThat(tables).isEmpty(),
                    tables -> assertThat(tables).containsOnlyKeys("s.a"));
        }
        for (int length = 0; length < right.length; length++) {
            Files.write(file, Arrays.copyOf(right, length));
            UsageJournal torn = open();
            // before that, the first file is as it was written
            assertThat(tables(torn.counters(), LAKE).keySet()).as("%s bytes", length).isIn(length < first ? List.of(Set.of(), Set.of("s.a")) : List.of(Set.of("s.a")));
            if (length % 50 == 0) {
                // it is rewritten before anything is appended
                torn.add(LAKE, batch(new Digest128(3, 3), 1, "s.c", 5), () -> {});
                write();
                torn.close();
                assertThat(tables(open().counters(), LAKE)).as("%s bytes", length).containsKey("s.c");
            }
        }
        Files.write(file, right);
        assertThat(tables(open().counters(), LAKE)).containsOnlyKeys("s.a", "s.b");
    }

    @Test
    void testFullDisk()
    {
        int[] writesLeft = {Integer.MAX_VALUE};
        disk = interrupted(() -> {
            if (writesLeft[0]-- <= 0) {
                sneak(new IOException("no space left on device"));
            }
        });
        UsageJournal journal = open();
        add(journal, 1, "s.a", 10);
        write();
        writesLeft[0] = 0;
        add(journal, 2, "s.a", 20);
        write();
        add(journal, 3, "s.a", 30);
        write();
        // counting goes on in memory
        assertThat(acknowledged).hasValue(3);
        assertThat(journal.counters().totals()).isEqualTo(counted(60, 3));
        assertThat(open().counters().totals()).isEmpty();

        writesLeft[0] = Integer.MAX_VALUE;
        journal.maintain();
        clock.advance(Duration.ofSeconds(11));
        journal.maintain();
        assertThat(open().counters().totals()).isEqualTo(counted(60, 3));
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable failure)
            throws T
    {
        throw (T) failure;
    }

    @Test
    void testForgottenTablesStayForgotten()
    {
        UsageJournal journal = open();
        add(journal, 1, "s.idle", 10);
        write();
        clock.advance(UsageCounters.TABLE_LIFETIME);
        add(journal, 2, "s.read", 5);
        write();
        journal.maintain();
        assertThat(tables(journal.counters(), LAKE)).containsOnlyKeys("s.idle", "s.read");
        clock.advance(Duration.ofHours(1));
        journal.maintain();
        assertThat(tables(journal.counters(), LAKE)).containsOnlyKeys("s.read");
        // the file still has it
        UsageJournal restarted = open();
        assertThat(tables(restarted.counters(), LAKE)).containsOnlyKeys("s.read");
        assertThat(restarted.counters().totals()).isEqualTo(counted(15, 2));
    }

    /**
     * Restarts do not let the file grow beyond its bound.
     */
    @Test
    void testFileIsBoundedBesideRestarts()
            throws IOException
    {
        long largest = 0;
        long number = 0;
        for (int run = 0; run < 10; run++) {
            UsageJournal journal = open();
            for (int i = 0; i < 3000; i++) {
                number++;
                add(journal, number, "s.table" + i % 10, 1);
                write();
            }
            largest = Math.max(largest, Files.size(directory.resolve(UsageJournal.FILE)));
        }
        assertThat(largest).isLessThan(UsageJournal.MIN_REWRITE_BYTES + 1000);
        assertThat(open().counters().totals()).isEqualTo(counted(number, number));
    }
}
