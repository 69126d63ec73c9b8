package io.cachedhive.client.counters;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.StatusMessage.Usage;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * What to tell the worker of the counters: the difference to what it has acknowledged, in numbered batches. A batch that got no answer is told again
 * as it was, with the same number, so that it is counted once whichever way was lost. While nobody listens, differences grow and take no room.
 */
public final class UsageBatches
{
    private final Digest128 client;
    private final ClientCounters counters;
    private final HitLog hits;

    @GuardedBy("this")
    private final Map<String, Map<String, Long>> reported = new HashMap<>();
    @GuardedBy("this")
    private Optional<Usage> unanswered = Optional.empty();
    @GuardedBy("this")
    private long batches;

    /**
     * @param client names this catalog instance for as long as the JVM lives
     */
    public UsageBatches(Digest128 client, ClientCounters counters, HitLog hits)
    {
        this.client = requireNonNull(client, "client is null");
        this.counters = requireNonNull(counters, "counters is null");
        this.hits = requireNonNull(hits, "hits is null");
    }

    /**
     * The batch that is not acknowledged yet, or a new one; empty if there is nothing to tell.
     */
    public synchronized Optional<Usage> next()
    {
        if (unanswered.isPresent()) {
            return unanswered;
        }
        Map<String, Map<String, Long>> changes = new HashMap<>();
        counters.byTable().forEach((table, now) -> {
            Map<String, Long> before = reported.getOrDefault(table, Map.of());
            Map<String, Long> change = new HashMap<>();
            now.forEach((name, value) -> {
                long difference = value - before.getOrDefault(name, 0L);
                if (difference != 0) {
                    change.put(name, difference);
                }
            });
            if (!change.isEmpty()) {
                changes.put(table, change);
            }
        });
        List<Digest128> used = hits.drain();
        if (!changes.isEmpty() || !used.isEmpty()) {
            batches++;
            unanswered = Optional.of(new Usage(client, batches, changes, used));
        }
        return unanswered;
    }

    public synchronized void acknowledged(long batch)
    {
        if (unanswered.isEmpty() || unanswered.get().batch() != batch) {
            return;
        }
        unanswered.get().counters().forEach((table, change) -> {
            Map<String, Long> values = reported.computeIfAbsent(table, _ -> new HashMap<>());
            change.forEach((name, value) -> values.merge(name, value, Long::sum));
        });
        unanswered = Optional.empty();
    }
}
