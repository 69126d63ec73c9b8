package io.cachedhive.client.counters;

import io.cachedhive.protocol.wire.CounterNames;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * What a client counted since it was started, by table. Only finished reads are counted: each requested byte as one source.
 */
public final class ClientCounters
{
    private static final ReadSource[] SOURCES = ReadSource.values();
    private static final int RAM_HIT = ReadSource.RAM_HIT.ordinal();
    private static final BypassCause[] CAUSES = BypassCause.values();

    private final ConcurrentMap<String, TableCounters> tables = new ConcurrentHashMap<>();

    /**
     * The counters of a table: keep them for as long as a file is open.
     *
     * @param table {@code schema.table}
     */
    public TableCounters table(String table)
    {
        TableCounters counters = tables.get(table);
        return counters != null ? counters : tables.computeIfAbsent(table, _ -> new TableCounters());
    }

    /**
     * Counts bytes that a query asked for, by somebody who does not know where they came from. Only for reads that finished.
     */
    public void addRequested(String table, long bytes)
    {
        table(table).addRequested(bytes);
    }

    /**
     * The sum over all tables.
     *
     * @param counter a name of {@link CounterNames}
     * @return 0 for a name that is not counted here
     */
    public long get(String counter)
    {
        return totals().getOrDefault(counter, 0L);
    }

    /**
     * The sums over all tables, by names of {@link CounterNames}: the sources always, the causes of bypass that came.
     */
    public Map<String, Long> totals()
    {
        Map<String, Long> totals = new LinkedHashMap<>();
        new TableCounters().addTo(totals, true);
        tables.values().forEach(table -> table.addTo(totals, true));
        return totals;
    }

    /**
     * By table, without zeros.
     */
    public Map<String, Map<String, Long>> byTable()
    {
        Map<String, Map<String, Long>> values = new LinkedHashMap<>();
        tables.forEach((name, table) -> {
            Map<String, Long> counters = new LinkedHashMap<>();
            table.addTo(counters, false);
            if (!counters.isEmpty()) {
                values.put(name, counters);
            }
        });
        return values;
    }

    public static final class TableCounters
    {
        private final LongAdder requestedBytes = new LongAdder();
        // those that are not in hits
        private final LongAdder requests = new LongAdder();
        // reads of shared memory only, as in ReadObserver
        private final LongAdder hits = new LongAdder();
        private final LongAdder[] bytes = ReadObserver.adders(SOURCES.length);
        private final LongAdder[] sourceRequests = ReadObserver.adders(SOURCES.length);
        private final LongAdder[] bypassBytes = ReadObserver.adders(CAUSES.length);

        private final LongAdder hedges = new LongAdder();
        private final LongAdder hedgesWon = new LongAdder();
        private final LongAdder hedgeExtraBytes = new LongAdder();
        private final LongAdder crossZoneBytes = new LongAdder();
        private final LongAdder verifiedBytes = new LongAdder();
        private final LongAdder verifyMismatches = new LongAdder();

        private TableCounters() {}

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
        }

        /**
         * Counts bytes of a worker in another zone; they are counted by source as well.
         */
        public void addCrossZone(long count)
        {
            crossZoneBytes.add(count);
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
        }

        /**
         * See {@link ClientCounters#addRequested}.
         */
        public void addRequested(long bytes)
        {
            requestedBytes.add(bytes);
        }

        /**
         * Counts a read that found all of it in shared memory.
         */
        public void addHit(ReadObserver observer, long count)
        {
            hits.increment();
            bytes[RAM_HIT].add(count);
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
            observer.addRequest(waitNanos);
            for (int i = 0; i < bytesBySource.length; i++) {
                if (bytesBySource[i] > 0) {
                    bytes[i].add(bytesBySource[i]);
                    sourceRequests[i].increment();
                    observer.add(SOURCES[i], bytesBySource[i]);
                }
            }
        }

        /**
         * Counts a read that went to the origin without the cache.
         */
        public void addBypass(ReadObserver observer, BypassCause cause, long count, long waitNanos)
        {
            requests.increment();
            bytes[ReadSource.BYPASS.ordinal()].add(count);
            sourceRequests[ReadSource.BYPASS.ordinal()].increment();
            bypassBytes[cause.ordinal()].add(count);
            observer.addRequest(waitNanos);
            observer.add(ReadSource.BYPASS, count);
            observer.addBypass(cause, count);
        }

        void addRequest(ReadObserver observer, long waitNanos)
        {
            requests.increment();
            observer.addRequest(waitNanos);
        }

        void addBytes(ReadObserver observer, ReadSource source, long count, boolean firstOfRequest)
        {
            bytes[source.ordinal()].add(count);
            if (firstOfRequest) {
                sourceRequests[source.ordinal()].increment();
            }
            observer.add(source, count, firstOfRequest);
        }

        void addBypassBytes(ReadObserver observer, BypassCause cause, long count)
        {
            bypassBytes[cause.ordinal()].add(count);
            observer.addBypass(cause, count);
        }

        private void addTo(Map<String, Long> values, boolean zeros)
        {
            merge(values, CounterNames.REQUESTS, requests.sum() + hits.sum(), zeros);
            merge(values, CounterNames.REQUESTED_BYTES, requestedBytes.sum(), zeros);
            for (ReadSource source : SOURCES) {
                long hitRequests = source == ReadSource.RAM_HIT ? hits.sum() : 0;
                merge(values, source.bytesCounter(), bytes[source.ordinal()].sum(), zeros);
                merge(values, source.requestsCounter(), sourceRequests[source.ordinal()].sum() + hitRequests, zeros);
            }
            merge(values, CounterNames.HEDGES, hedges.sum(), zeros);
            merge(values, CounterNames.HEDGES_WON, hedgesWon.sum(), zeros);
            merge(values, CounterNames.HEDGE_EXTRA_BYTES, hedgeExtraBytes.sum(), zeros);
            merge(values, CounterNames.CROSS_ZONE_BYTES, crossZoneBytes.sum(), zeros);
            merge(values, CounterNames.VERIFIED_BYTES, verifiedBytes.sum(), zeros);
            merge(values, CounterNames.VERIFY_MISMATCHES, verifyMismatches.sum(), zeros);
            for (BypassCause cause : CAUSES) {
                merge(values, cause.counter(), bypassBytes[cause.ordinal()].sum(), false);
            }
        }

        private static void merge(Map<String, Long> values, String name, long value, boolean zeros)
        {
            if (value != 0 || zeros) {
                values.merge(name, value, Long::sum);
            }
        }
    }
}
