package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.worker.fetch.BlockFetcher.Priority;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * A block that somebody wants, or for which a request is under way. Guarded by the lock of {@link FetchQueues}, but for its index and terms.
 */
final class WantedBlock
{
    /**
     * How long blocks are asked for again and again that the origin refuses: less than readers wait for a fetch, so that they hear of it first.
     */
    static final Duration PATIENCE = Duration.ofSeconds(8);

    final int index;
    // of who wanted it first
    final FillTerms terms;
    final List<BlockWaiter> waiters = new ArrayList<>(1);
    Priority priority;
    // of requests that the origin refused
    int refusals;
    // until when it makes sense to ask; preloads have time
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
     * @param refusesAll whether the bucket seems to refuse everything
     */
    boolean isWorthAsking(long atNanos, boolean refusesAll)
    {
        if (priority == Priority.AHEAD) {
            // whoever will want it asks for itself
            return false;
        }
        return patient || (!refusesAll && atNanos - patienceEnds < 0);
    }

    /**
     * The same to be asked for again; whoever has this one finds nobody waiting.
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
