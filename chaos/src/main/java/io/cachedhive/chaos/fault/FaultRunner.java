package io.cachedhive.chaos.fault;

import io.cachedhive.attack.setting.Target;
import io.cachedhive.chaos.lake.MovingTable;
import io.cachedhive.chaos.proxy.TcpProxy.Trouble;
import io.cachedhive.chaos.schedule.FaultKind;
import io.cachedhive.chaos.schedule.FaultLog;
import io.cachedhive.chaos.schedule.PlannedFault;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.home.CacheWorkerHome;
import io.cachedhive.testing.cluster.s3.S3Faults;
import io.cachedhive.testing.cluster.s3.S3ServerProcess;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.util.Objects.requireNonNull;

/**
 * Causes a planned fault, waits, and undoes it. Several threads may run faults at the same time: a fault that comes too early for an earlier one waits for it.
 */
public final class FaultRunner
{
    private static final Duration DRAIN_DEADLINE = Duration.ofSeconds(10);
    private static final Duration DRAIN_TIMEOUT = Duration.ofMinutes(2);
    private static final int CLOCK_SECONDS = 3600;
    // more than a process needs to read its keystore again
    private static final Duration RENEWAL_MARGIN = Duration.ofSeconds(90);

    private final FaultSetting setting;
    private final FaultLog log;
    private final Consumer<String> failures;
    private final Consumer<String> progress;
    private final FileFaults fileFaults;
    private final Optional<Path> fakeTime = FakeClock.findLibrary();
    private final List<Lock> hosts;
    private final Lock secret = new ReentrantLock(true);
    private final Lock certificates = new ReentrantLock(true);
    private final Lock s3 = new ReentrantLock(true);
    private final Lock trino = new ReentrantLock(true);
    private final Lock files = new ReentrantLock(true);

    /**
     * @param failures receives a sentence if a process cannot be started again, or an attack succeeds
     */
    public FaultRunner(FaultSetting setting, FaultLog log, Consumer<String> failures, Consumer<String> progress)
    {
        this.setting = requireNonNull(setting, "setting is null");
        this.log = requireNonNull(log, "log is null");
        this.failures = requireNonNull(failures, "failures is null");
        this.progress = requireNonNull(progress, "progress is null");
        this.fileFaults = new FileFaults(setting);
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

    /**
     * Returns when the fault is over.
     *
     * @param endNanos by {@link System#nanoTime}: a fault that has waited for earlier ones until then does not take place
     */
    public void run(PlannedFault fault, long endNanos)
            throws InterruptedException
    {
        List<Lock> locks = locks(fault);
        for (Lock lock : locks) {
            lock.lockInterruptibly();
        }
        if (System.nanoTime() - endNanos > 0) {
            locks.reversed().forEach(Lock::unlock);
            return;
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
            case HOST -> {
                Lock host = hosts.get(fault.host() - 1);
                yield fault.kind().isAttack() ? List.of(secret, host) : fault.kind() == FaultKind.CERTIFICATE_EXPIRED ? List.of(certificates, host) : List.of(host);
            }
            // these take the hosts later, one after the other
            case SECRET -> List.of(secret);
            case CERTIFICATES -> List.of(certificates);
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
                yield () -> NodeFaults.start(worker);
            }
            case CACHE_WORKER_STOPPED -> {
                NodeFaults.signal("STOP", worker.pid());
                yield () -> NodeFaults.signal("CONT", worker.pid());
            }
            case CACHE_WORKER_RESTARTED -> {
                worker.stop();
                yield () -> NodeFaults.start(worker);
            }
            case CACHE_WORKER_DRAINED -> {
                worker.drain(DRAIN_DEADLINE);
                worker.awaitEnd(DRAIN_TIMEOUT);
                yield () -> NodeFaults.start(worker);
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
                NodeFaults.start(worker);
                clock.move(random.nextBoolean() ? CLOCK_SECONDS : -CLOCK_SECONDS);
                yield () -> {
                    clock.move(0);
                    worker.setEnvironment(Map.of());
                    worker.stop();
                    NodeFaults.start(worker);
                };
            }
            case STATE_WIPED -> {
                worker.kill();
                CacheDirectories.wipe(worker.home().path().resolve("state"));
                yield () -> NodeFaults.start(worker);
            }
            case SSD_WIPED -> {
                worker.kill();
                CacheDirectories.wipe(ssd);
                yield () -> NodeFaults.start(worker);
            }
            case SSD_DAMAGED -> {
                worker.kill();
                CacheDirectories.damage(ssd, "", random);
                yield () -> NodeFaults.start(worker);
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
                    NodeFaults.start(worker);
                    NodeFaults.start(other);
                };
            }
            case SSD_FULL -> inject(worker, Strace.WRITES, "error=ENOSPC");
            case SSD_FAILING -> inject(worker, Strace.READS + "," + Strace.WRITES + "," + Strace.SYNCS, "error=EIO");
            case SSD_SLOW -> inject(worker, Strace.READS + "," + Strace.WRITES + "," + Strace.SYNCS, "delay_enter=60000");
            case SSD_HUNG -> inject(worker, Strace.READS + "," + Strace.WRITES + "," + Strace.SYNCS, "delay_enter=5000000");
            case ATTACKED_BY_STRANGER, ATTACKED_ON_PATH, ATTACKED_BY_PEER, ATTACKED_WITH_LOAD -> attack(fault, worker, random);
            case SECRET_ROTATED -> {
                SecretFault rotation = new SecretFault(
                        cluster.cacheWorkers().stream().map(cluster::sharedSecretFile).toList(),
                        Stream.of(List.of(cluster.coordinator()), cluster.workers()).flatMap(List::stream).map(cluster::sharedSecretFile).toList(),
                        Thread::sleep,
                        this::checkSecret);
                yield rotation.begin(random);
            }
            case CERTIFICATES_RENEWED -> {
                issueToAll(Instant.now().plusMillis(fault.lengthMillis()).plus(RENEWAL_MARGIN));
                yield () -> {
                    issueToAll(ClusterCertificates.lasting());
                    Thread.sleep(ClusterCertificates.RELOAD);
                    for (ClusterNode renewed : cluster.cacheWorkers()) {
                        // until then, the cache worker may be stopped
                        Lock lock = hosts.get(cluster.cacheWorkers().indexOf(renewed));
                        lock.lockInterruptibly();
                        try {
                            checkPresented(renewed, false);
                        }
                        finally {
                            lock.unlock();
                        }
                    }
                };
            }
            case CERTIFICATE_EXPIRED -> {
                setting.certificates().issueToCacheWorker(worker.name(), Instant.now());
                Thread.sleep(ClusterCertificates.RELOAD);
                // open connections stay
                setting.workerProxies().get(fault.host() - 1).endConnections();
                checkPresented(worker, true);
                yield () -> {
                    setting.certificates().issueToCacheWorker(worker.name(), ClusterCertificates.lasting());
                    Thread.sleep(ClusterCertificates.RELOAD);
                    checkPresented(worker, false);
                };
            }
            case TRINO_WORKER_KILLED -> {
                trinoWorker.kill();
                yield () -> {
                    NodeFaults.start(trinoWorker);
                    cluster.awaitWorkers(cluster.workers().size(), NodeFaults.START_TIMEOUT);
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
                NodeFaults.signal("STOP", pid);
                yield () -> NodeFaults.signal("CONT", pid);
            }
            case FILE_REPLACED, FILE_REPLACED_SAME_LENGTH, FILE_REPLACED_SAME_SECOND, FILE_DELETED, FILE_RECREATED, FILE_REPLACED_AFTER_LISTING, FILE_REPLACED_IN_MID_READ,
                    FILE_REPLACED_AND_CACHE_STOPPED, FILE_REWRITTEN_AND_FLUSHED -> fileFaults.begin(fault, random);
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

    private Undo attack(PlannedFault fault, ClusterNode worker, Random random)
    {
        AttackFault attack = AttackFault.draw(fault, random);
        progress.accept("fault %s is %s on %s".formatted(fault.number(), attack.name(), worker.name()));
        FutureTask<Optional<String>> task = new FutureTask<>(() -> attack.run((CacheWorkerHome) worker.home()));
        Thread.ofPlatform().name("attack-" + fault.number()).start(task);
        return () -> task.get().ifPresent(sentence -> failures.accept("an attack succeeded: %s on %s: %s".formatted(attack.name(), worker.name(), sentence)));
    }

    private void checkSecret(String accepted, String refused)
            throws IOException, InterruptedException
    {
        for (int host = 0; host < hosts.size(); host++) {
            CacheWorkerHome worker = (CacheWorkerHome) setting.cluster().cacheWorkers().get(host).home();
            // until then, the cache worker may be stopped
            hosts.get(host).lockInterruptibly();
            try {
                if (!Target.accepts(worker, accepted)) {
                    failures.accept("after a rotation, %s refuses the new secret".formatted(worker.nodeId()));
                }
                if (Target.accepts(worker, refused)) {
                    failures.accept("after a rotation, %s still accepts the former secret".formatted(worker.nodeId()));
                }
            }
            finally {
                hosts.get(host).unlock();
            }
        }
    }

    private void issueToAll(Instant expiry)
    {
        Cluster cluster = setting.cluster();
        cluster.cacheWorkers().forEach(node -> setting.certificates().issueToCacheWorker(node.name(), expiry));
        Stream.of(List.of(cluster.coordinator()), cluster.workers()).flatMap(List::stream).forEach(node -> setting.certificates().issueToTrino(node.name(), expiry));
    }

    private void checkPresented(ClusterNode worker, boolean expired)
            throws IOException
    {
        Instant expiry = ClusterCertificates.presentedExpiry(worker);
        if (expiry.isBefore(Instant.now().plus(RENEWAL_MARGIN)) != expired) {
            failures.accept("%s presents a certificate that is valid until %s, although its keystore has another one".formatted(worker.name(), expiry));
        }
    }

    // its weight on the ring changes
    private void resize(ClusterNode worker, String size)
            throws IOException, SQLException, InterruptedException
    {
        try (SqlConnection connection = connect()) {
            // a cache worker that just returned may know an older ring for a moment, which is like the one to come
            String former = RingCheck.awaitOne(connection, Optional.empty());
            worker.stop();
            CacheDirectories.setProperty(worker, "cache.ssd.max-sizes", size);
            NodeFaults.start(worker);
            RingCheck.awaitOne(connection, Optional.of(former));
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

    private String drawTable(Random random)
    {
        List<MovingTable> moving = setting.lake().movingTables();
        return random.nextBoolean() ? drawSteady(random) : moving.get(random.nextInt(moving.size())).name();
    }

    private String drawSteady(Random random)
    {
        List<String> tables = setting.lake().steadyTables();
        return tables.get(random.nextInt(tables.size()));
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
