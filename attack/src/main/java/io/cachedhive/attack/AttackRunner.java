package io.cachedhive.attack;

import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Attack.Need;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.ProcessUsage;
import io.cachedhive.attack.setting.ReadLoop;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.testing.cluster.ClusterException;
import io.cachedhive.testing.cluster.ClusterNode;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * Makes attacks, and checks after each one that the cache worker serves on.
 */
public final class AttackRunner
{
    /**
     * The time after an attack in which connections, descriptors, threads and memory return to their earlier values.
     */
    private static final Duration RECOVERY = Duration.ofSeconds(60);
    private static final long POLL_MILLIS = 50;
    private static final int MAX_LOG_LINES = 20;
    // of a JVM that is at work: compiler threads, threads of other connections, selectors of the HTTP server
    private static final int DESCRIPTORS = 16;
    private static final int THREADS = 24;
    private static final long MEMORY_BYTES = 256L << 20;

    private final Target target;
    private final Pressure pressure;
    private final Duration recovery;

    public AttackRunner(Target target, Pressure pressure)
    {
        this(target, pressure, RECOVERY);
    }

    AttackRunner(Target target, Pressure pressure, Duration recovery)
    {
        this.target = requireNonNull(target, "target is null");
        this.pressure = requireNonNull(pressure, "pressure is null");
        this.recovery = requireNonNull(recovery, "recovery is null");
    }

    /**
     * Returns what an attack needs that the target does not have.
     */
    public List<Need> missing(Attack attack)
    {
        List<Need> missing = new ArrayList<>();
        for (Need need : Need.values()) {
            boolean available = switch (need) {
                case SECRET -> target.secret().isPresent();
                case SOCKET -> target.socket().isPresent();
                case HTTP -> target.http().isPresent();
                case OWN_WORKER -> target.own().isPresent();
            };
            if (attack.needs().contains(need) && !available) {
                missing.add(need);
            }
        }
        return missing;
    }

    /**
     * Makes one attack.
     *
     * @return one sentence on what the attack achieved; empty if it was refused and the cache worker serves on
     * @throws IOException if the cache worker did not serve before the attack, or the attack could not be made
     */
    public Optional<String> run(Attack attack)
            throws IOException, InterruptedException
    {
        if (target.canRead()) {
            target.cache(target.sample());
        }
        target.checkServes();
        Optional<Stats> before = target.canRead() ? Optional.of(target.stats()) : Optional.empty();
        Optional<ProcessUsage> usage = usage();
        long logLines = logLines();

        Optional<ReadLoop> reads = target.canRead() ? Optional.of(ReadLoop.start(target)) : Optional.empty();
        Optional<String> success;
        Optional<String> failedReads = Optional.empty();
        try {
            success = attack.run(target, pressure);
        }
        catch (IOException e) {
            Optional<String> stopped = stopped();
            if (stopped.isEmpty()) {
                throw e;
            }
            return stopped;
        }
        finally {
            if (reads.isPresent()) {
                failedReads = reads.get().stop();
            }
        }
        if (success.isPresent()) {
            return success;
        }
        if (failedReads.isPresent()) {
            return failedReads;
        }
        Optional<String> stopped = stopped();
        if (stopped.isPresent()) {
            return stopped;
        }
        try {
            Optional<String> left = attack.leftovers(target);
            if (left.isPresent()) {
                return left;
            }
            if (before.isPresent() && attack.isCounted() && !isCounted(before.get())) {
                return Optional.of("the cache worker counted no rejected connection and no rejected request");
            }
            Optional<String> lost = before.isPresent() ? awaitRecovery(before.get(), usage) : Optional.empty();
            if (lost.isPresent()) {
                return lost;
            }
        }
        catch (IOException e) {
            return Optional.of("the cache worker does not answer after the attack: " + e.getMessage());
        }
        long lines = logLines() - logLines;
        return lines > MAX_LOG_LINES ? Optional.of("the cache worker wrote %s lines to its log, more than %s".formatted(lines, MAX_LOG_LINES)) : Optional.empty();
    }

    /**
     * Checks that the cache worker serves.
     *
     * @return one sentence if it does not
     */
    private Optional<String> stopped()
            throws InterruptedException
    {
        try {
            target.checkServes();
            return Optional.empty();
        }
        catch (IOException e) {
            return Optional.of("the cache worker does not serve after the attack: " + e.getMessage());
        }
    }

    /**
     * Restarts the cache worker, if it belongs to this program, and checks for what attacks left in it.
     *
     * @return one sentence on what they left; empty for nothing
     */
    public Optional<String> restart(List<Attack> attacks)
            throws IOException, InterruptedException
    {
        if (target.own().isEmpty()) {
            return Optional.empty();
        }
        try {
            target.own().get().first().node().restart();
        }
        catch (ClusterException e) {
            return Optional.of("the cache worker does not start after the attack: " + e.getMessage());
        }
        // the RAM tier is empty after a restart
        target.cache(target.sample());
        target.checkServes();
        for (Attack attack : attacks) {
            Optional<String> left = attack.leftovers(target);
            if (left.isPresent()) {
                return Optional.of("after %s and a restart, %s".formatted(attack.name(), left.get()));
            }
        }
        return Optional.empty();
    }

    private boolean isCounted(Stats before)
            throws IOException, InterruptedException
    {
        long deadline = System.nanoTime() + recovery.toNanos();
        // the cache worker counts a connection when it has seen its end
        while (rejected(target.stats()) == rejected(before)) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            Thread.sleep(POLL_MILLIS);
        }
        return true;
    }

    private static long rejected(Stats stats)
    {
        return value(stats, CounterNames.REJECTED_CONNECTIONS) + value(stats, CounterNames.REJECTED_REQUESTS);
    }

    private static long value(Stats stats, String name)
    {
        Long value = stats.counters().getOrDefault(name, stats.gauges().get(name));
        if (value == null) {
            throw new IllegalStateException("the cache worker has no counter " + name);
        }
        return value;
    }

    private Optional<String> awaitRecovery(Stats before, Optional<ProcessUsage> usage)
            throws IOException, InterruptedException
    {
        long deadline = System.nanoTime() + recovery.toNanos();
        while (true) {
            Optional<String> lost = lost(before, usage);
            if (lost.isEmpty() || System.nanoTime() > deadline) {
                return lost;
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    private Optional<String> lost(Stats before, Optional<ProcessUsage> usage)
            throws IOException, InterruptedException
    {
        if (usage.isEmpty()) {
            // others connect to it, too
            return Optional.empty();
        }
        long connections = value(target.stats(), CounterNames.CONNECTIONS);
        if (connections > value(before, CounterNames.CONNECTIONS)) {
            return Optional.of("the cache worker has %s connections %s s after the attack, %s before it".formatted(
                    connections,
                    recovery.toSeconds(),
                    value(before, CounterNames.CONNECTIONS)));
        }
        ProcessUsage now = usage().orElseThrow();
        if (now.descriptors() > usage.get().descriptors() + DESCRIPTORS) {
            return Optional.of("the cache worker has %s open files %s s after the attack, %s before it".formatted(
                    now.descriptors(),
                    recovery.toSeconds(),
                    usage.get().descriptors()));
        }
        if (now.threads() > usage.get().threads() + THREADS) {
            return Optional.of("the cache worker has %s threads %s s after the attack, %s before it".formatted(now.threads(), recovery.toSeconds(), usage.get().threads()));
        }
        if (now.memoryBytes() > usage.get().memoryBytes() + MEMORY_BYTES) {
            now = ProcessUsage.withoutGarbage(node().orElseThrow().pid());
        }
        if (now.memoryBytes() > usage.get().memoryBytes() + MEMORY_BYTES) {
            return Optional.of("the cache worker uses %s MiB of memory %s s after the attack, %s MiB before it".formatted(
                    now.memoryBytes() >> 20,
                    recovery.toSeconds(),
                    usage.get().memoryBytes() >> 20));
        }
        return Optional.empty();
    }

    private Optional<ClusterNode> node()
    {
        return target.own().map(workers -> workers.first().node());
    }

    private Optional<ProcessUsage> usage()
            throws IOException
    {
        return node().isPresent() ? Optional.of(ProcessUsage.of(node().get().pid())) : Optional.empty();
    }

    private long logLines()
            throws IOException
    {
        if (node().isEmpty()) {
            return 0;
        }
        try (Stream<String> lines = Files.lines(node().get().logFile())) {
            return lines.count();
        }
    }
}
