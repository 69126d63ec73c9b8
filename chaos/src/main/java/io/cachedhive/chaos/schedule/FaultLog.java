package io.cachedhive.chaos.schedule;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * Which faults were active when, by {@link System#nanoTime}.
 */
public final class FaultLog
{
    @GuardedBy("this")
    private final List<Entry> entries = new ArrayList<>();

    private static final class Entry
    {
        private final FaultKind kind;
        private final long beginNanos;
        private long endNanos = Long.MAX_VALUE;
        private boolean skipped;

        private Entry(FaultKind kind, long beginNanos)
        {
            this.kind = requireNonNull(kind, "kind is null");
            this.beginNanos = beginNanos;
        }
    }

    /** Handle of a fault that has begun. */
    public final class Begun
    {
        private final Entry entry;

        private Begun(Entry entry)
        {
            this.entry = entry;
        }

        public void end()
        {
            synchronized (FaultLog.this) {
                entry.endNanos = System.nanoTime();
            }
        }

        /** The fault could not be caused. It counts as active all the same until its end. */
        public void skip()
        {
            synchronized (FaultLog.this) {
                entry.skipped = true;
            }
        }
    }

    public synchronized Begun begin(FaultKind kind)
    {
        Entry entry = new Entry(kind, System.nanoTime());
        entries.add(entry);
        return new Begun(entry);
    }

    /** Kinds of the faults that were active at any time between two times. */
    public synchronized List<FaultKind> between(long fromNanos, long toNanos)
    {
        return entries.stream()
                .filter(entry -> entry.beginNanos - toNanos <= 0 && (entry.endNanos == Long.MAX_VALUE || entry.endNanos - fromNanos >= 0))
                .map(entry -> entry.kind)
                .toList();
    }

    public synchronized Map<FaultKind, Integer> counts()
    {
        Map<FaultKind, Integer> counts = new EnumMap<>(FaultKind.class);
        entries.stream().filter(entry -> !entry.skipped).forEach(entry -> counts.merge(entry.kind, 1, Integer::sum));
        return counts;
    }
}
