package io.cachedhive.client.counters;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.StatusMessage.Usage;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

import static java.util.Objects.requireNonNull;

/**
 * The counters of a client since it was started, by table. It counts only finished reads: each requested byte as one source.
 *
 * <p>A table is known here while it has changes that were not taken. A table without changes since the last visit is forgotten: its counters stay in
 * the totals, and its next reader gets new ones. A file that is still open keeps the counters that it has; if it counts again, they are visited
 * again and their changes are added to those of the same name. All work is therefore proportional to the tables that changed.
 */
public final class ClientCounters
{
    /**
     * The name under which tables beyond the limit are counted.
     */
    public static final String OTHER_TABLES = "(other)";

    private static final ReadSource[] SOURCES = ReadSource.values();
    private static final int RAM_HIT = ReadSource.RAM_HIT.ordinal();
    private static final List<String> NAMES = names();
    private static final int MAX_TABLES = 100_000;
    private static final int MAX_VISITS = 4096;

    private final ConcurrentMap<String, TableCounters> tables = new ConcurrentHashMap<>();
    // each table with changes once, and those whose last changes were just taken
    private final Queue<TableCounters> changedTables = new ConcurrentLinkedQueue<>();
    @GuardedBy("this")
    private final Map<String, Long> taken = zeros();
    @GuardedBy("this")
    private long visits;

    private static List<String> names()
    {
        List<String> names = new ArrayList<>();
        names.add(CounterNames.REQUESTS);
        names.add(CounterNames.REQUESTED_BYTES);
        for (ReadSource source : SOURCES) {
            names.add(source.bytesCounter());
            names.add(source.requestsCounter());
        }
        names.add(CounterNames.HEDGES);
        names.add(CounterNames.HEDGES_WON);
        names.add(CounterNames.HEDGE_EXTRA_BYTES);
        names.add(CounterNames.CROSS_ZONE_BYTES);
        names.add(CounterNames.VERIFIED_BYTES);
        names.add(CounterNames.VERIFY_MISMATCHES);
        return List.copyOf(names);
    }

    private static Map<String, Long> zeros()
    {
        Map<String, Long> zeros = new LinkedHashMap<>();
        NAMES.forEach(name -> zeros.put(name, 0L));
        return zeros;
    }

    /**
     * Returns the counters of a table: keep them for as long as a file is open.
     *
     * @param table {@code schema.table}
     */
    public TableCounters table(String table)
    {
        TableCounters counters = tables.get(table);
        if (counters != null) {
            return counters;
        }
        boolean fits = table.length() <= Usage.MAX_TABLE_NAME_LENGTH && tables.size() < MAX_TABLES;
        return tables.computeIfAbsent(fits ? table : OTHER_TABLES, TableCounters::new);
    }

    /**
     * Counts bytes that a query requested, for a caller that does not know where they came from. Only for reads that finished.
     */
    public void addRequested(String table, long bytes)
    {
        table(table).addRequested(bytes);
    }

    /**
     * Returns the sum over all tables.
     *
     * @param counter a name of {@link CounterNames}
     * @return 0 for a name that is not counted here
     */
    public long get(String counter)
    {
        return totals().getOrDefault(counter, 0L);
    }

    /**
     * Returns the sums over all tables, by names of {@link CounterNames}: the sources always, causes of bypass only if they occurred.
     */
    public synchronized Map<String, Long> totals()
    {
        Map<String, Long> totals = new LinkedHashMap<>(taken);
        for (TableCounters table : changedTables) {
            table.addChange(totals);
        }
        return totals;
    }

    /**
     * Returns the number of tables that are known.
     */
    public int knownTables()
    {
        return tables.size();
    }

    /**
     * Returns how many tables were visited for their changes since the start.
     */
    public synchronized long visits()
    {
        return visits;
    }

    /**
     * Takes what was counted since it was taken last, by table and name, without zeros. What does not fit is left for the next call. Visits no table
     * that did not change since the call before the last.
     *
     * @param maxTables the most tables to take changes of
     * @param maxBytes the encoded size at which no further table is added
     */
    synchronized Map<String, Map<String, Long>> takeChanges(int maxTables, int maxBytes)
    {
        Map<String, Map<String, Long>> changes = new HashMap<>();
        List<TableCounters> visitAgain = new ArrayList<>();
        int bytes = 0;
        for (int i = 0; i < MAX_VISITS && changes.size() < maxTables && bytes < maxBytes; i++) {
            TableCounters table = changedTables.poll();
            if (table == null) {
                break;
            }
            visits++;
            Map<String, Long> change = table.takeChange();
            if (change.isEmpty()) {
                forget(table);
                continue;
            }
            visitAgain.add(table);
            bytes += encodedBytes(table.name, change);
            Map<String, Long> ofName = changes.computeIfAbsent(table.name, _ -> new HashMap<>());
            for (Map.Entry<String, Long> counter : change.entrySet()) {
                ofName.merge(counter.getKey(), counter.getValue(), Long::sum);
                taken.merge(counter.getKey(), counter.getValue(), Long::sum);
            }
        }
        // in the next call, and not in this one: a table that is read all the time stays known
        changedTables.addAll(visitAgain);
        return changes;
    }

    @GuardedBy("this")
    private void forget(TableCounters table)
    {
        table.listed.set(false);
        // a reader that counted before this may have seen the table as listed
        if (table.hasChange()) {
            table.list();
            return;
        }
        tables.remove(table.name, table);
    }

    private static int encodedBytes(String table, Map<String, Long> change)
    {
        int bytes = 8 + 3 * table.length();
        for (String name : change.keySet()) {
            bytes += 12 + name.length();
        }
        return bytes;
    }

    public final class TableCounters
    {
        private final String name;
        // whether it is among the tables to visit
        private final AtomicBoolean listed = new AtomicBoolean();

        private final LongAdder requestedBytes = new LongAdder();
        // those that are not in hits
        private final LongAdder requests = new LongAdder();
        // reads of shared memory only, as in ReadObserver
        private final LongAdder hits = new LongAdder();
        private final LongAdder[] bytes = ReadObserver.adders(SOURCES.length);
        private final LongAdder[] sourceRequests = ReadObserver.adders(SOURCES.length);
        private final Map<BypassCause, LongAdder> bypassBytes = new ConcurrentHashMap<>();

        private final LongAdder hedges = new LongAdder();
        private final LongAdder hedgesWon = new LongAdder();
        private final LongAdder hedgeExtraBytes = new LongAdder();
        private final LongAdder crossZoneBytes = new LongAdder();
        private final LongAdder verifiedBytes = new LongAdder();
        private final LongAdder verifyMismatches = new LongAdder();

        @GuardedBy("this")
        private final long[] takenValues = new long[NAMES.size()];
        @GuardedBy("this")
        private final Map<BypassCause, Long> takenBypass = new HashMap<>(0);

        private TableCounters(String name)
        {
            this.name = requireNonNull(name, "name is null");
        }

        private void changed()
        {
            // reads in shared memory are short, and almost always find it listed
            if (!listed.get()) {
                list();
            }
        }

        private void list()
        {
            if (listed.compareAndSet(false, true)) {
                changedTables.add(this);
            }
        }

        /**
         * Counts a read for which the origin was asked beside a worker.
         *
         * @param extraBytes what was asked of the origin, if the worker was faster; 0 if the origin was
         */
        public void addHedge(long extraBytes)
        {
            hedges.increment();
            if (extraBytes == 0) {
                hedgesWon.increment();
            }
            hedgeExtraBytes.add(extraBytes);
            changed();
        }

        /**
         * Counts bytes of a worker in another zone; they are counted by source as well.
         */
        public void addCrossZone(long count)
        {
            crossZoneBytes.add(count);
            changed();
        }

        /**
         * Counts bytes of a hit that were read from the origin once more.
         *
         * @param same whether the origin has the same
         */
        public void addVerified(long count, boolean same)
        {
            verifiedBytes.add(count);
            if (!same) {
                verifyMismatches.increment();
            }
            changed();
        }

        /**
         * See {@link ClientCounters#addRequested}.
         */
        public void addRequested(long bytes)
        {
            requestedBytes.add(bytes);
            changed();
        }

        /**
         * Counts a read that found all of it in shared memory.
         */
        public void addHit(ReadObserver observer, long count)
        {
            hits.increment();
            bytes[RAM_HIT].add(count);
            changed();
            observer.addHit(count);
        }

        /**
         * Counts a read that was served by several sources.
         *
         * @param bytesBySource by the source's ordinal
         */
        public void addRead(ReadObserver observer, long[] bytesBySource, long waitNanos)
        {
            requests.increment();
            observer.addRequest(ReadSource.slowest(bytesBySource), waitNanos);
            for (int i = 0; i < bytesBySource.length; i++) {
                if (bytesBySource[i] > 0) {
                    bytes[i].add(bytesBySource[i]);
                    sourceRequests[i].increment();
                    observer.add(SOURCES[i], bytesBySource[i]);
                }
            }
            changed();
        }

        /**
         * Counts a read that went to the origin without the cache.
         */
        public void addBypass(ReadObserver observer, BypassCause cause, long count, long waitNanos)
        {
            requests.increment();
            bytes[ReadSource.BYPASS.ordinal()].add(count);
            sourceRequests[ReadSource.BYPASS.ordinal()].increment();
            bypassed(cause).add(count);
            changed();
            observer.addRequest(ReadSource.BYPASS, waitNanos);
            observer.add(ReadSource.BYPASS, count);
            observer.addBypass(cause, count);
        }

        void addRequest(ReadObserver observer, ReadSource slowest, long waitNanos)
        {
            requests.increment();
            changed();
            observer.addRequest(slowest, waitNanos);
        }

        void addBytes(ReadObserver observer, ReadSource source, long count, boolean firstOfRequest)
        {
            bytes[source.ordinal()].add(count);
            if (firstOfRequest) {
                sourceRequests[source.ordinal()].increment();
            }
            changed();
            observer.add(source, count, firstOfRequest);
        }

        void addBypassBytes(ReadObserver observer, BypassCause cause, long count)
        {
            bypassed(cause).add(count);
            changed();
            observer.addBypass(cause, count);
        }

        private LongAdder bypassed(BypassCause cause)
        {
            return bypassBytes.computeIfAbsent(cause, _ -> new LongAdder());
        }

        // in the order of NAMES
        private long[] values()
        {
            long[] values = new long[NAMES.size()];
            int next = 0;
            values[next++] = requests.sum() + hits.sum();
            values[next++] = requestedBytes.sum();
            for (ReadSource source : SOURCES) {
                values[next++] = bytes[source.ordinal()].sum();
                values[next++] = sourceRequests[source.ordinal()].sum() + (source == ReadSource.RAM_HIT ? hits.sum() : 0);
            }
            values[next++] = hedges.sum();
            values[next++] = hedgesWon.sum();
            values[next++] = hedgeExtraBytes.sum();
            values[next++] = crossZoneBytes.sum();
            values[next++] = verifiedBytes.sum();
            values[next] = verifyMismatches.sum();
            return values;
        }

        private synchronized Map<String, Long> takeChange()
        {
            Map<String, Long> change = new HashMap<>();
            long[] values = values();
            for (int i = 0; i < values.length; i++) {
                if (values[i] != takenValues[i]) {
                    change.put(NAMES.get(i), values[i] - takenValues[i]);
                    takenValues[i] = values[i];
                }
            }
            for (Map.Entry<BypassCause, LongAdder> bypassed : bypassBytes.entrySet()) {
                BypassCause cause = bypassed.getKey();
                long value = bypassed.getValue().sum();
                long before = takenBypass.getOrDefault(cause, 0L);
                if (value != before) {
                    change.put(cause.counter(), value - before);
                    takenBypass.put(cause, value);
                }
            }
            return change;
        }

        private synchronized void addChange(Map<String, Long> sums)
        {
            long[] values = values();
            for (int i = 0; i < values.length; i++) {
                sums.merge(NAMES.get(i), values[i] - takenValues[i], Long::sum);
            }
            for (Map.Entry<BypassCause, LongAdder> bypassed : bypassBytes.entrySet()) {
                long change = bypassed.getValue().sum() - takenBypass.getOrDefault(bypassed.getKey(), 0L);
                if (change != 0) {
                    sums.merge(bypassed.getKey().counter(), change, Long::sum);
                }
            }
        }

        private synchronized boolean hasChange()
        {
            long[] values = values();
            for (int i = 0; i < values.length; i++) {
                if (values[i] != takenValues[i]) {
                    return true;
                }
            }
            for (Map.Entry<BypassCause, LongAdder> bypassed : bypassBytes.entrySet()) {
                if (bypassed.getValue().sum() != takenBypass.getOrDefault(bypassed.getKey(), 0L)) {
                    return true;
                }
            }
            return false;
        }
    }
}
