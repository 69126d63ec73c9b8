package io.cachedhive.plugin.rules;

import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

import static java.util.Objects.requireNonNull;

/**
 * How often a rule decided. Any number of threads may count.
 */
public final class RuleCounter
{
    private final LongAdder scans = new LongAdder();
    private final LongAdder splits = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private volatile Instant last;

    void addScan(Instant now)
    {
        scans.increment();
        last = requireNonNull(now, "now is null");
    }

    void addSplit(long splitBytes)
    {
        splits.increment();
        bytes.add(splitBytes);
    }

    /**
     * Scans with a split for which the rule decided.
     */
    public long scans()
    {
        return scans.sum();
    }

    public long splits()
    {
        return splits.sum();
    }

    /**
     * Of these splits, read or not.
     */
    public long bytes()
    {
        return bytes.sum();
    }

    /**
     * When the last of these scans began.
     */
    public Optional<Instant> last()
    {
        return Optional.ofNullable(last);
    }
}
