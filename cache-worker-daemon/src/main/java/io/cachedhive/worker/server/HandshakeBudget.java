package io.cachedhive.worker.server;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.nio.channels.ClosedChannelException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

import static java.lang.Math.min;
import static java.util.Objects.requireNonNull;

/**
 * Limits the TLS handshakes of an address whose peers do not prove the secret. A handshake costs this side a signature and its peer next to nothing, so that a
 * fraction of a processor could occupy a whole one here. Peers that prove the secret do not use up the budget of their address, and never that of others.
 * Each address has a token bucket.
 */
final class HandshakeBudget
{
    private static final int MAX_ADDRESSES = 4096;

    private final int burst;
    private final double perSecond;
    private final LongSupplier nanoTime;
    // those with a full budget are not here
    @GuardedBy("this")
    private final Map<String, Budget> budgets = new LinkedHashMap<>();

    private static final class Budget
    {
        private double left;
        private long updatedNanos;

        private Budget(double left, long updatedNanos)
        {
            this.left = left;
            this.updatedNanos = updatedNanos;
        }
    }

    /**
     * @param burst the handshakes that an address may begin at once; more than the connections that a host opens
     */
    HandshakeBudget(int burst, double perSecond, LongSupplier nanoTime)
    {
        this.burst = burst;
        this.perSecond = perSecond;
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
    }

    /**
     * Waits until the address may begin another handshake.
     *
     * @param closed whether the connection has ended meanwhile
     * @throws ClosedChannelException if it has
     */
    void await(String address, BooleanSupplier closed)
            throws ClosedChannelException, InterruptedException
    {
        while (true) {
            if (closed.getAsBoolean()) {
                throw new ClosedChannelException();
            }
            long wait = take(address);
            if (wait == 0) {
                return;
            }
            TimeUnit.NANOSECONDS.sleep(wait);
        }
    }

    /**
     * Takes a handshake from the budget of the address.
     *
     * @return 0 if there was one, otherwise the nanoseconds until there may be one
     */
    synchronized long take(String address)
    {
        long now = nanoTime.getAsLong();
        Budget budget = budgets.computeIfAbsent(address, _ -> new Budget(burst, now));
        refill(budget, now);
        if (budget.left >= 1) {
            budget.left--;
            if (budgets.size() > MAX_ADDRESSES) {
                budgets.remove(budgets.keySet().iterator().next());
            }
            return 0;
        }
        return Math.max(1, (long) ((1 - budget.left) * TimeUnit.SECONDS.toNanos(1) / perSecond));
    }

    /**
     * Returns the handshake of a peer that has proved the secret.
     */
    synchronized void proven(String address)
    {
        Budget budget = budgets.get(address);
        if (budget == null) {
            return;
        }
        refill(budget, nanoTime.getAsLong());
        budget.left = min(budget.left + 1, burst);
        if (budget.left == burst) {
            budgets.remove(address);
        }
    }

    private void refill(Budget budget, long now)
    {
        budget.left = min(budget.left + (double) (now - budget.updatedNanos) * perSecond / TimeUnit.SECONDS.toNanos(1), burst);
        budget.updatedNanos = now;
    }

    synchronized int size()
    {
        return budgets.size();
    }
}
