package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.worker.fetch.BlockFetcher.Priority;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * A block that is requested or being fetched. Guarded by the lock of {@link FetchQueues}, except index and terms.
 */
final class WantedBlock
{
    /**
     * The time for which throttled blocks are requested again. It is shorter than readers wait for a fetch, so that
     * readers are notified first.
     */
    static final Duration PATIENCE = Duration.ofSeconds(8);

    final int index;
    // the terms of the first request
    final FillTerms terms;
    final List<BlockWaiter> waiters = new ArrayList<>(1);
    Priority priority;
    // throttled requests for this block
    int refusals;
    // the time after which retries are pointless; preloads have no limit
    private long patienceEnds;
    private boolean patient = true;

    WantedBlock(int index, Priority priority, FillTerms terms)
    {
        this.index = index;
        this.terms = requireNonNull(terms, "terms is null");
        this.priority = requireNonNull(priority, "priority is null");
    }

    void add(BlockWaiter waiter, Priority priority, long now)
    {
        waiters.add(waiter);
        if (priority == Priority.READ && patient) {
            patient = false;
            patienceEnds = now + PATIENCE.toNanos();
        }
    }

    /**
     * Returns whether the block should be requested again.
     *
     * @param refusesAll whether the bucket appears to throttle all requests
     */
    boolean isWorthAsking(long atNanos, boolean refusesAll)
    {
        if (priority == Priority.AHEAD) {
            // a later read fetches the block itself
            return false;
        }
        return patient || (!refusesAll && atNanos - patienceEnds < 0);
    }

    /**
     * Returns a copy to be requested again. References to this instance no longer lead to its waiters.
     */
    WantedBlock again()
    {
        WantedBlock again = new WantedBlock(index, priority, terms);
        again.waiters.addAll(waiters);
        again.refusals = refusals + 1;
        again.patienceEnds = patienceEnds;
        again.patient = patient;
        return again;
    }
}
