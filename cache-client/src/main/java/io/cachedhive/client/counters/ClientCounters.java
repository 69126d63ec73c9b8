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
        private final LongAdder requests = new LongAdder();
        private final LongAdder[] bytes = ReadObserver.adders(SOURCES.length);
        private final LongAdder[] sourceRequests = ReadObserver.adders(SOURCES.length);
        private final LongAdder[] bypassBytes = ReadObserver.adders(CAUSES.length);

        private TableCounters() {}

        /**
         * See {@link ClientCounters#addRequested}.
         */
        public void addRequested(long bytes)
        {
            requestedBytes.add(bytes);
        }

        /**
         * Counts a read that was served by one source other than bypass.
         */
        public void addRead(ReadObserver observer, ReadSource source, long count)
        {
            requests.increment();
            bytes[source.ordinal()].add(count);
            sourceRequests[source.ordinal()].increment();
            observer.addRequest(0);
            observer.add(source, count);
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
            merge(values, CounterNames.REQUESTS, requests, zeros);
            merge(values, CounterNames.REQUESTED_BYTES, requestedBytes, zeros);
            for (ReadSource source : SOURCES) {
                merge(values, source.bytesCounter(), bytes[source.ordinal()], zeros);
                merge(values, source.requestsCounter(), sourceRequests[source.ordinal()], zeros);
            }
            for (BypassCause cause : CAUSES) {
                merge(values, cause.counter(), bypassBytes[cause.ordinal()], false);
            }
        }

        private static void merge(Map<String, Long> values, String name, LongAdder adder, boolean zeros)
        {
            long value = adder.sum();
            if (value != 0 || zeros) {
                values.merge(name, value, Long::sum);
            }
        }
    }
}
