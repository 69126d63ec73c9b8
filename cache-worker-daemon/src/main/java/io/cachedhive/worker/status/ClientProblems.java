package io.cachedhive.worker.status;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.worker.usage.UsageCounters.Account;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * The Trino nodes that reported that they cannot connect to the Unix socket, with their reasons. A node is forgotten when it connects, or when it has reported nothing for
 * a while.
 */
public final class ClientProblems
{
    private static final int MAX_NODES = 1024;
    private static final int MAX_PROBLEM_LENGTH = 1000;
    // clients report every 5 s
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(15);

    private final LongSupplier nanoTime;
    // the oldest report first
    @GuardedBy("this")
    private final Map<Client, Report> reports = new LinkedHashMap<>();
    // read without the lock by each request of a local client
    private volatile boolean empty = true;

    private record Client(Account account, String node) {}

    private record Report(String problem, long endNanos) {}

    ClientProblems(LongSupplier nanoTime)
    {
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
    }

    public synchronized void report(Account account, String node, String problem)
    {
        Client client = new Client(account, node);
        reports.remove(client);
        forgetOld();
        if (reports.size() < MAX_NODES) {
            reports.put(client, new Report(problem.substring(0, Math.min(problem.length(), MAX_PROBLEM_LENGTH)), nanoTime.getAsLong() + KEPT_NANOS));
        }
        empty = reports.isEmpty();
    }

    /**
     * Forgets the report of a node that is connected to the Unix socket.
     */
    public void connected(Account account, String node)
    {
        if (!empty) {
            forget(new Client(account, node));
        }
    }

    private synchronized void forget(Client client)
    {
        reports.remove(client);
        empty = reports.isEmpty();
    }

    @GuardedBy("this")
    private void forgetOld()
    {
        long now = nanoTime.getAsLong();
        reports.values().removeIf(report -> report.endNanos() - now <= 0);
    }

    /**
     * Returns the problem of one of the nodes that run the catalog, and its fix.
     */
    synchronized Optional<String> problem(Account account)
    {
        forgetOld();
        empty = reports.isEmpty();
        return reports.entrySet().stream()
                .filter(report -> report.getKey().account().equals(account))
                .map(report -> "Trino node %s cannot use the cache worker of its host: %s".formatted(report.getKey().node(), report.getValue().problem()))
                .findFirst();
    }
}
