package io.cachedhive.client.hedge;

import io.cachedhive.transport.LatencyHistogram;

import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

import static java.util.Objects.requireNonNull;

/**
 * When the origin is asked beside a cache worker that owes an answer (Dean and Barroso, The Tail at Scale, 2013: hedged requests), and how often.
 */
public final class Hedges
{
    private static final int HIT_MULTIPLE = 3;
    private static final double HIT_SHARE = 0.95;
    private static final double ORIGIN_SHARE = 0.99;

    private final HedgeBudget budget = new HedgeBudget();
    private final LatencyHistogram origin = new LatencyHistogram();
    private final ExecutorService executor;
    private final long minSilenceNanos;
    private final long unknownOriginNanos;
    private final IntPredicate reserve;
    private final IntConsumer release;

    /**
     * @param executor of reads from the origin; refuses when it has enough of them
     * @param minSilenceNanos how long a worker may be silent in any case
     * @param unknownOriginNanos how long the origin may take as long as it is not known
     * @param reserve takes memory for so many bytes if there is some; {@code release} gives it back
     */
    public Hedges(ExecutorService executor, long minSilenceNanos, long unknownOriginNanos, IntPredicate reserve, IntConsumer release)
    {
        this.executor = requireNonNull(executor, "executor is null");
        this.minSilenceNanos = minSilenceNanos;
        this.unknownOriginNanos = unknownOriginNanos;
        this.reserve = requireNonNull(reserve, "reserve is null");
        this.release = requireNonNull(release, "release is null");
    }

    /**
     * A read asks cache workers.
     */
    public void addRead()
    {
        budget.addRead();
    }

    /**
     * The origin answered, a worker or this client itself.
     */
    public void addOriginLatency(long nanos)
    {
        origin.add(nanos);
    }

    /**
     * How long a worker may be silent before the origin is asked as well.
     *
     * @param hits of the worker
     * @param fetching whether it said that it waits for the origin itself
     */
    public long patienceNanos(LatencyHistogram hits, boolean fetching)
    {
        if (fetching) {
            return Math.max(minSilenceNanos, origin.percentile(ORIGIN_SHARE).orElse(unknownOriginNanos));
        }
        return Math.max(minSilenceNanos, HIT_MULTIPLE * hits.percentile(HIT_SHARE).orElse(0));
    }

    /**
     * @param arrived called when the bytes are there, on another thread
     * @return empty if it may not be done now
     */
    public Optional<Hedge> begin(int length, Hedge.Origin from, Runnable arrived)
    {
        if (!budget.tryTake()) {
            return Optional.empty();
        }
        if (!reserve.test(length)) {
            budget.giveBack();
            return Optional.empty();
        }
        Hedge hedge = new Hedge(length, () -> release.accept(length));
        try {
            hedge.start(from, executor, arrived);
            return Optional.of(hedge);
        }
        catch (RejectedExecutionException | OutOfMemoryError _) {
            // stopped, or the system gives this process no more threads
            hedge.cancel();
            budget.giveBack();
            return Optional.empty();
        }
    }
}
