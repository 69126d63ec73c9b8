package io.cachedhive.chaos.fault;

import io.cachedhive.chaos.lake.MovingTable;
import io.cachedhive.chaos.proxy.TcpProxy.Trouble;
import io.cachedhive.chaos.rows.ChaosRows;
import io.cachedhive.chaos.rows.FileHistory;
import io.cachedhive.chaos.schedule.FaultKind;
import io.cachedhive.chaos.schedule.FaultLog;
import io.cachedhive.chaos.schedule.PlannedFault;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.s3.S3Faults;
import io.cachedhive.testing.cluster.s3.S3Hold;
import io.cachedhive.testing.cluster.s3.S3ServerProcess;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import io.cachedhive.testing.cluster.statistics.CacheStatistics;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static io.cachedhive.testing.cluster.Cluster.BUCKET;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.util.Objects.requireNonNull;

/**
 * Causes a planned fault, waits, and undoes it. Several threads may run faults at the same time: a fault that comes too early for an earlier one waits for it.
 */
public final class FaultRunner
{
    // of a machine on which many others build
    private static final Duration START_TIMEOUT = Duration.ofMinutes(15);
    private static final Duration DRAIN_DEADLINE = Duration.ofSeconds(10);
    private static final Duration DRAIN_TIMEOUT = Duration.ofMinutes(2);
    private static final Duration HOLD_TIMEOUT = Duration.ofSeconds(15);
    private static final Duration HEALTHY_TIMEOUT = Duration.ofSeconds(40);
    private static final int CLOCK_SECONDS = 3600;
    private static final int LATEST_MILLIS_OF_SECOND = 150;

    private final FaultSetting setting;
    private final FaultLog log;
    private final Consumer<String> failures;
    private final Consumer<String> progress;
    private final Optional<Path> fakeTime = FakeClock.findLibrary();
    private final List<Lock> hosts;
    private final Lock s3 = new ReentrantLock(true);
    private final Lock trino = new ReentrantLock(true);
    private final Lock files = new ReentrantLock(true);

    /**
     * @param failures receives a sentence if a process cannot be started again
     */
    public FaultRunner(FaultSetting setting, FaultLog log, Consumer<String> failures, Consumer<String> progress)
    {
        this.setting = requireNonNull(setting, "setting is null");
        this.log = requireNonNull(log, "log is null");
        this.failures = requireNonNull(failures, "failures is null");
        this.progress = requireNonNull(progress, "progress is null");
        this.hosts = setting.cluster().cacheWorkers().stream().<Lock>map(_ -> new ReentrantLock(true)).toList();
    }

    /** Kinds that this machine cannot cause, each with the reason. */
    public static Map<FaultKind, String> impossibleKinds()
    {
        Map<FaultKind, String> impossible = new EnumMap<>(FaultKind.class);
        if (!Strace.isPossible()) {
            Stream.of(FaultKind.values())
                    .filter(FaultKind::needsStrace)
                    .forEach(kind -> impossible.put(kind, "strace(1) is not installed or may not trace other processes"));
        }
        if (FakeClock.findLibrary().isEmpty()) {
            impossible.put(FaultKind.CLOCK_MOVED, "libfaketime is not installed");
        }
        return impossible;
    }

    private interface Undo
    {
        void run()
                throws Exception;
    }

    /** Returns when the fault is over. */
    public void run(PlannedFault fault)
            throws InterruptedException
    {
        List<Lock> locks = locks(fault);
        for (Lock lock : locks) {
            lock.lockInterruptibly();
        }
        FaultLog.Begun begun = log.begin(fault.kind());
        try {
            progress.accept("fault " + fault);
            Random random = new Random(fault.seed());
            Undo undo;
            try {
                undo = begin(fault, random);
            }
            catch (SQLException e) {
                // a procedure may fail while the cache is in trouble, and its CALL says so
                progress.accept("fault %s did not take place: %s".formatted(fault.number(), e.getMessage()));
                begun.skip();
                return;
            }
            Thread.sleep(fault.lengthMillis());
            undo.run();
        }
        catch (InterruptedException e) {
            throw e;
        }
        catch (Exception e) {
            failures.accept("fault %s could not be caused or undone: %s".formatted(fault, e));
        }
        finally {
            begun.end();
            locks.reversed().forEach(Lock::unlock);
        }
    }

    private List<Lock> locks(PlannedFault fault)
    {
        return switch (fault.kind().target()) {
            case HOST -> List.of(hosts.get(fault.host() - 1));
            case TWO_HOSTS -> IntStream.of(fault.host() - 1, otherHost(fault) - 1).sorted().mapToObj(hosts::get).toList();
            case S3 -> List.of(s3);
            case TRINO -> List.of(trino);
            case FILE -> List.of(files);
            case FILE_AND_ALL_HOSTS -> Stream.of(hosts, List.of(s3, files)).flatMap(List::stream).toList();
            case SOCKETS, PRELOAD, PIN, MODE, RULES, NOTHING -> List.of();
        };
    }

    private int otherHost(PlannedFault fault)
    {
        // not the last one, whose processes are not ended
        return fault.host() % (hosts.size() - 1) + 1;
    }

    private Undo begin(PlannedFault fault, Random random)
            throws Exception
    {
        Cluster cluster = setting.cluster();
        ClusterNode worker = cluster.cacheWorkers().get(fault.host() - 1);
        ClusterNode trinoWorker = cluster.workers().get(fault.host() - 1);
        Path ssd = CacheDirectories.ssd(worker);
        return switch (fault.kind()) {
            case CACHE_WORKER_KILLED -> {
                worker.kill();
                yield () -> start(worker);
            }
            case CACHE_WORKER_STOPPED -> {
                signal("STOP", worker.pid());
                yield () -> signal("CONT", worker.pid());
            }
            case CACHE_WORKER_RESTARTED -> {
                worker.stop();
                yield () -> start(worker);
            }
            case CACHE_WORKER_DRAINED -> {
                worker.drain(DRAIN_DEADLINE);
                worker.awaitEnd(DRAIN_TIMEOUT);
                yield () -> start(worker);
            }
            case CACHE_WORKER_RESIZED -> {
                resize(worker, setting.ssdSizes().doubled());
                yield () -> resize(worker, setting.ssdSizes().normal());
            }
            case CLOCK_MOVED -> {
                FakeClock clock = new FakeClock(fakeTime.orElseThrow(), setting.directory().resolve("clock-" + fault.host()));
                clock.move(0);
                worker.stop();
                worker.setEnvironment(clock.environment());
                start(worker);
                clock.move(random.nextBoolean() ? CLOCK_SECONDS : -CLOCK_SECONDS);
                yield () -> {
                    clock.move(0);
                    worker.setEnvironment(Map.of());
                    worker.stop();
                    start(worker);
                };
            }
            case STATE_WIPED -> {
                worker.kill();
                CacheDirectories.wipe(worker.home().path().resolve("state"));
                yield () -> start(worker);
            }
            case SSD_WIPED -> {
                worker.kill();
                CacheDirectories.wipe(ssd);
                yield () -> start(worker);
            }
            case SSD_DAMAGED -> {
                worker.kill();
                CacheDirectories.damage(ssd, "", random);
                yield () -> start(worker);
            }
            case SSD_ROTTING -> {
                CacheDirectories.damage(ssd, "slab", random);
                yield () -> {};
            }
            case SSD_SWAPPED -> {
                ClusterNode other = cluster.cacheWorkers().get(otherHost(fault) - 1);
                worker.kill();
                other.kill();
                CacheDirectories.swap(ssd, CacheDirectories.ssd(other));
                yield () -> {
                    start(worker);
                    start(other);
                };
            }
            case SSD_FULL -> inject(worker, Strace.WRITES, "error=ENOSPC");
            case SSD_FAILING -> inject(worker, Strace.READS + "," + Strace.WRITES + "," + Strace.SYNCS, "error=EIO");
            case SSD_SLOW -> inject(worker, Strace.READS + "," + Strace.WRITES + "," + Strace.SYNCS, "delay_enter=60000");
            case SSD_HUNG -> inject(worker, Strace.READS + "," + Strace.WRITES + "," + Strace.SYNCS, "delay_enter=5000000");
            case TRINO_WORKER_KILLED -> {
                trinoWorker.kill();
                yield () -> {
                    start(trinoWorker);
                    cluster.awaitWorkers(cluster.workers().size(), START_TIMEOUT);
                };
            }
            case SOCKETS_CUT -> sockets(fault, Trouble.CUT);
            case SOCKETS_REFUSED -> sockets(fault, Trouble.REFUSED);
            case SOCKETS_DELAYED -> sockets(fault, Trouble.DELAYED);
            case SOCKETS_STALLED -> sockets(fault, Trouble.STALLED);
            case SOCKETS_FLIPPED -> sockets(fault, Trouble.FLIPPED);
            case S3_SLOW -> s3Faults(S3Faults.NONE.withLatency(Duration.ofMillis(100 + random.nextInt(500))));
            case S3_NARROW -> s3Faults(S3Faults.NONE.withBytesPerSecond(1 << 20));
            case S3_REFUSING -> s3Faults(S3Faults.NONE.withUnavailableShare(0.3 + random.nextDouble() / 2, fault.seed()));
            case S3_CUT -> s3Sockets(Trouble.CUT);
            case S3_REFUSED -> s3Sockets(Trouble.REFUSED);
            case S3_STOPPED -> {
                long pid = ((S3ServerProcess) cluster.s3()).handle().pid();
                signal("STOP", pid);
                yield () -> signal("CONT", pid);
            }
            case FILE_REPLACED -> {
                MovingFile file = drawFile(random);
                List<Integer> states = setting.lake().statesOfOtherLength(file.table(), file.key(), file.history().state());
                setting.lake().put(file.table(), file.key(), states.get(random.nextInt(states.size())));
                yield () -> {};
            }
            case FILE_REPLACED_SAME_LENGTH -> {
                MovingFile file = drawFileOfSameLength(random);
                setting.lake().put(file.table(), file.key(), otherState(file, random));
                yield () -> {};
            }
            case FILE_REPLACED_SAME_SECOND -> {
                MovingFile file = drawFileOfSameLength(random);
                long millis = System.currentTimeMillis() % 1000;
                Thread.sleep(millis < LATEST_MILLIS_OF_SECOND ? 0 : 1000 - millis);
                setting.lake().put(file.table(), file.key(), otherState(file, random));
                // by a reader that was quick enough
                setting.client().checkMoving(file.table(), Integer.MAX_VALUE);
                setting.lake().put(file.table(), file.key(), otherState(file, random));
                setting.client().checkMoving(file.table(), Integer.MAX_VALUE);
                yield () -> setting.client().checkMoving(file.table(), Integer.MAX_VALUE);
            }
            case FILE_DELETED -> {
                MovingFile file = drawFile(random);
                setting.lake().delete(file.table(), file.key());
                yield () -> setting.lake().put(file.table(), file.key(), anyState(random));
            }
            case FILE_RECREATED -> {
                MovingFile file = drawFile(random);
                int state = anyState(random);
                setting.lake().delete(file.table(), file.key());
                setting.lake().put(file.table(), file.key(), state);
                yield () -> {};
            }
            case FILE_REPLACED_AFTER_LISTING -> replaceWhileRead(drawFile(random), 0, random);
            case FILE_REPLACED_IN_MID_READ -> replaceWhileRead(drawFile(random), 64 << 10, random);
            case FILE_REWRITTEN_AND_FLUSHED -> rewriteAndFlush(drawFileOfSameLength(random), random);
            case FLUSHED -> {
                call("flush_data_cache(schema_name => 'chaos', table_name => '%s')".formatted(drawTable(random)));
                yield () -> {};
            }
            case PRELOADED -> {
                String job = "chaos-" + fault.number();
                call("preload_table(schema_name => 'chaos', table_name => '%s', job => '%s', wait => false)".formatted(drawSteady(random), job));
                yield () -> callIgnoringFailure("cancel_preload('%s')".formatted(job));
            }
            case PINNED -> {
                String table = drawTable(random);
                call("pin_partition('chaos', '%s')".formatted(table));
                yield () -> callIgnoringFailure("unpin_partition('chaos', '%s')".formatted(table));
            }
            case MODE_CHANGED -> {
                call("set_cache_mode('%s')".formatted(List.of("OFF", "READ_ONLY", "SHADOW").get(random.nextInt(3))));
                yield () -> call("set_cache_mode('DEFAULT')");
            }
            case RULES_CHANGED -> {
                writeRules(FaultSetting.RULES.get(random.nextInt(FaultSetting.RULES.size())));
                yield () -> writeRules(FaultSetting.NO_RULES);
            }
        };
    }

    private static void start(ClusterNode node)
    {
        node.start();
        node.awaitReady(START_TIMEOUT);
    }

    private static void resize(ClusterNode worker, String size)
            throws IOException
    {
        worker.stop();
        CacheDirectories.setProperty(worker, "cache.ssd.max-sizes", size);
        start(worker);
    }

    private static void signal(String name, long pid)
            throws IOException, InterruptedException
    {
        if (new ProcessBuilder("kill", "-" + name, Long.toString(pid)).inheritIO().start().waitFor() != 0) {
            throw new IOException("kill -%s %s failed".formatted(name, pid));
        }
    }

    private Undo inject(ClusterNode worker, String calls, String fault)
            throws Exception
    {
        Strace strace = Strace.attach(
                worker.pid(),
                CacheDirectories.files(CacheDirectories.ssd(worker), ""),
                calls,
                fault,
                setting.directory().resolve("strace-%s.out".formatted(worker.name())));
        return strace::close;
    }

    private Undo sockets(PlannedFault fault, Trouble trouble)
    {
        setting.workerProxies().get(fault.host() - 1).set(trouble);
        return () -> setting.workerProxies().get(fault.host() - 1).set(Trouble.NONE);
    }

    private Undo s3Faults(S3Faults faults)
    {
        setting.cluster().s3().setFaults(faults);
        return () -> setting.cluster().s3().setFaults(S3Faults.NONE);
    }

    private Undo s3Sockets(Trouble trouble)
    {
        setting.s3Proxy().set(trouble);
        return () -> setting.s3Proxy().set(Trouble.NONE);
    }

    private record MovingFile(MovingTable table, String key)
    {
        private FileHistory history()
        {
            return table.files().get(key);
        }
    }

    private MovingFile drawFile(Random random)
    {
        List<MovingTable> tables = setting.lake().movingTables();
        MovingTable table = tables.get(random.nextInt(tables.size()));
        List<String> keys = table.keys();
        return new MovingFile(table, keys.get(random.nextInt(keys.size())));
    }

    private MovingFile drawFileOfSameLength(Random random)
    {
        List<MovingFile> candidates = new ArrayList<>();
        for (MovingTable table : setting.lake().movingTables()) {
            for (String key : table.keys()) {
                if (!setting.lake().statesOfSameLength(table, key, table.files().get(key).state()).isEmpty()) {
                    candidates.add(new MovingFile(table, key));
                }
            }
        }
        return candidates.get(random.nextInt(candidates.size()));
    }

    private int otherState(MovingFile file, Random random)
    {
        List<Integer> states = setting.lake().statesOfSameLength(file.table(), file.key(), file.history().state());
        return states.get(random.nextInt(states.size()));
    }

    private static int anyState(Random random)
    {
        return random.nextInt(ChaosRows.STATES);
    }

    private String drawTable(Random random)
    {
        return random.nextBoolean() ? drawSteady(random) : drawFile(random).table().name();
    }

    private String drawSteady(Random random)
    {
        List<String> tables = setting.lake().steadyTables();
        return tables.get(random.nextInt(tables.size()));
    }

    /** Replaces the file with a state that no cache worker has, lets a query begin to read that, and replaces the file again. */
    private Undo replaceWhileRead(MovingFile file, long afterBytes, Random random)
            throws InterruptedException
    {
        setting.lake().put(file.table(), file.key(), anyState(random));
        Thread query;
        try (S3Hold hold = setting.cluster().s3().hold(S3Hold.Rule.gets(BUCKET, setting.lake().key(file.table(), file.key())).afterBytes(afterBytes))) {
            query = Thread.ofPlatform().name("query-of-fault").start(() -> setting.client().checkMoving(file.table(), Integer.MAX_VALUE));
            long deadline = System.nanoTime() + HOLD_TIMEOUT.toNanos();
            // small files are not held in the middle
            while (hold.heldCount() == 0 && query.isAlive() && System.nanoTime() < deadline) {
                Thread.sleep(20);
            }
            setting.lake().put(file.table(), file.key(), anyState(random));
        }
        query.join();
        return () -> setting.client().checkMoving(file.table(), Integer.MAX_VALUE);
    }

    /** What only a flush makes readers notice. */
    private Undo rewriteAndFlush(MovingFile file, Random random)
            throws Exception
    {
        try (SqlConnection connection = connect()) {
            new CacheStatistics(connection, "cachedhive").awaitHealthy(hosts.size(), HEALTHY_TIMEOUT);
        }
        catch (IllegalStateException e) {
            throw new SQLException("the flush would not reach all cache workers: " + e.getMessage(), e);
        }
        // it is in the cache then
        setting.client().checkMoving(file.table(), Integer.MAX_VALUE);
        Instant time = setting.lake().lastModified(file.table(), file.key());
        long begin = System.nanoTime();
        setting.lake().put(file.table(), file.key(), otherState(file, random));
        setting.lake().setLastModified(file.table(), file.key(), time);
        try {
            call("flush_data_cache(schema_name => 'chaos', table_name => '%s')".formatted(file.table().name()));
            return () -> setting.client().checkMoving(file.table(), Integer.MAX_VALUE);
        }
        catch (SQLException e) {
            // a later time is noticed without a flush
            setting.lake().put(file.table(), file.key(), file.history().state());
            throw e;
        }
        finally {
            file.history().addUnsettled(begin);
        }
    }

    private void writeRules(String rules)
            throws IOException
    {
        Path unfinished = setting.directory().resolve("rules.json.new");
        Files.writeString(unfinished, rules);
        Files.move(unfinished, setting.rulesFile(), ATOMIC_MOVE, REPLACE_EXISTING);
    }

    private void call(String procedure)
            throws SQLException
    {
        try (SqlConnection connection = connect()) {
            connection.query("CALL cachedhive.system." + procedure);
        }
    }

    private void callIgnoringFailure(String procedure)
    {
        try {
            call(procedure);
        }
        catch (SQLException e) {
            // the job has ended, or cache workers are in trouble: nothing depends on it
            progress.accept("CALL %s failed: %s".formatted(procedure, e.getMessage()));
        }
    }

    private SqlConnection connect()
            throws SQLException
    {
        return SqlConnection.open(setting.cluster().coordinator().httpUri(), "chaos", Optional.of("cachedhive"), Optional.of("chaos"));
    }
}
