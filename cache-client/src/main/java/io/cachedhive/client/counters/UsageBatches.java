package io.cachedhive.client.counters;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.StatusMessage.Usage;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The counters as numbered batches for the cache worker: what changed since the last batch, of a bounded number of tables. A batch without a reply
 * is sent again unchanged, with the same number, so that it counts once whichever message was lost. Until then no other batch is made, and the
 * changes stay in the counters.
 */
public final class UsageBatches
{
    /**
     * The size at which a batch is complete, in bytes of its encoded counters.
     */
    static final int BATCH_BYTES = 256 << 10;

    private final Digest128 client;
    private final ClientCounters counters;
    private final HitLog hits;

    @GuardedBy("this")
    private Optional<Usage> unanswered = Optional.empty();
    @GuardedBy("this")
    private long batches;
    // set on an I/O thread, which waits for no lock
    private volatile long acknowledged;

    /**
     * @param client identifies this catalog instance for as long as the JVM lives
     */
    public UsageBatches(Digest128 client, ClientCounters counters, HitLog hits)
    {
        this.client = requireNonNull(client, "client is null");
        this.counters = requireNonNull(counters, "counters is null");
        this.hits = requireNonNull(hits, "hits is null");
    }

    /**
     * Returns the batch that is not acknowledged yet, or a new one with hits and counters; empty if nothing changed.
     */
    public Optional<Usage> next()
    {
        return next(true);
    }

    /**
     * Returns the batch that is not acknowledged yet, or a new one with hits only; empty if there are none.
     */
    public Optional<Usage> nextHits()
    {
        return next(false);
    }

    private synchronized Optional<Usage> next(boolean withCounters)
    {
        if (unanswered.isPresent() && unanswered.get().batch() != acknowledged) {
            return unanswered;
        }
        Map<String, Map<String, Long>> changes = withCounters ? counters.takeChanges(Usage.MAX_TABLES, BATCH_BYTES) : Map.of();
        List<Digest128> used = hits.drain();
        unanswered = Optional.empty();
        if (!changes.isEmpty() || !used.isEmpty()) {
            batches++;
            unanswered = Optional.of(new Usage(client, batches, changes, used));
        }
        return unanswered;
    }

    /**
     * Returns all that is left, for a client that ends and waits for no reply: the batch that is not acknowledged yet, and what changed since.
     * The worker counts batches in order, and each once.
     */
    public synchronized List<Usage> last()
    {
        List<Usage> left = new ArrayList<>();
        for (Optional<Usage> batch = next(); batch.isPresent(); batch = next()) {
            left.add(batch.get());
            acknowledged = batch.get().batch();
        }
        return left;
    }

    public void acknowledged(long batch)
    {
        acknowledged = batch;
    }
}
