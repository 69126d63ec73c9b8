package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.ControlMessage.Ack;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toMap;

/**
 * Messages about the state and the counters of a worker.
 */
public sealed interface StatusMessage
        extends Message
{
    record Ping()
            implements StatusMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.PING;
        }

        @Override
        public void writeTo(WireWriter writer) {}

        static Ping read(WireReader reader)
        {
            return new Ping();
        }
    }

    /**
     * Reports the state of a worker.
     *
     * @param version of the worker's software
     * @param state {@code RUNNING}, {@code DRAINING} or {@code STOPPING}
     * @param weight bytes of SSD, or of RAM without SSD
     * @param newestRing the epoch of the worker's newest ring; 0 without one
     * @param newestRingPublishedMillis when it was published, in milliseconds since the Unix epoch; 0 without one
     */
    record Pong(
            CacheWorkerId worker,
            Digest128 instance,
            String version,
            String state,
            long weight,
            Optional<String> zone,
            long uptimeMillis,
            long restoredBlocks,
            RingEpoch newestRing,
            long newestRingPublishedMillis)
            implements StatusMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.PONG;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putString(worker.value()).putDigest(instance)
                    .putString(version).putString(state).putLong(weight).putOptionalString(zone).putLong(uptimeMillis).putLong(restoredBlocks)
                    .putLong(newestRing.value()).putLong(newestRingPublishedMillis);
        }

        static Pong read(WireReader reader)
                throws WireException
        {
            return new Pong(
                    new CacheWorkerId(reader.getString()),
                    reader.getDigest(),
                    reader.getString(),
                    reader.getString(),
                    reader.getLong(),
                    reader.getOptionalString(),
                    reader.getLong(),
                    reader.getLong(),
                    new RingEpoch(reader.getLong()),
                    reader.getLong());
        }
    }

    /**
     * Reports what a client counted since its last batch, and the blocks that it read from shared memory (for their
     * recency). Answered by {@link Ack}. A client that receives no answer sends the same batch again, and the worker
     * counts it once.
     *
     * @param client identifies the catalog instance in one JVM
     * @param batch 1, 2, 3, ...; a batch that is not above the last one counted is acknowledged and ignored
     * @param counters increments by table ({@code schema.table}) and by name of {@link CounterNames}
     */
    record Usage(Digest128 client, long batch, Map<String, Map<String, Long>> counters, List<Digest128> hits)
            implements StatusMessage
    {
        public static final int MAX_TABLES = 1024;
        public static final int MAX_HITS = 16 << 10;

        /**
         * The largest length of a table's name, in characters.
         */
        public static final int MAX_TABLE_NAME_LENGTH = 1024;

        public Usage
        {
            if (counters.size() > MAX_TABLES) {
                throw new IllegalArgumentException("more than %s tables at once: %s".formatted(MAX_TABLES, counters.size()));
            }
            for (String table : counters.keySet()) {
                if (table.length() > MAX_TABLE_NAME_LENGTH) {
                    throw new IllegalArgumentException("name of a table has more than %s characters: %s".formatted(MAX_TABLE_NAME_LENGTH, table.length()));
                }
            }
            hits = WireForms.copyOfAtMost(MAX_HITS, hits, "hits");
        }

        @Override
        public MessageType type()
        {
            return MessageType.USAGE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putDigest(client).putLong(batch)
                    .putList(counters.entrySet(), (out, entry) -> out.putString(entry.getKey()).putCounters(entry.getValue()))
                    .putList(hits, WireWriter::putDigest);
        }

        static Usage read(WireReader reader)
                throws WireException
        {
            return new Usage(
                    reader.getDigest(),
                    reader.getLong(),
                    reader.getList(in -> Map.entry(in.getString(), in.getCounters())).stream().collect(toMap(Map.Entry::getKey, Map.Entry::getValue)),
                    reader.getList(WireReader::getDigest));
        }
    }

    /**
     * Asks for the sums of the counters of the connection's cluster and catalog, and for the worker's gauges. Answered
     * by {@link Stats}.
     */
    record GetStats()
            implements StatusMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.GET_STATS;
        }

        @Override
        public void writeTo(WireWriter writer) {}

        static GetStats read(WireReader reader)
        {
            return new GetStats();
        }
    }

    /**
     * Reports counters and gauges.
     *
     * @param sinceMillis when counting started, in milliseconds since the Unix epoch
     * @param problem the current problem and its fix; empty if the worker is healthy
     * @param counters sums over all tables of the cluster and catalog, forgotten ones included, by name of
     * {@link CounterNames}
     * @param gauges gauges of the whole worker by name of {@link CounterNames}
     */
    record Stats(Pong status, long sinceMillis, Optional<String> problem, Map<String, Long> counters, Map<String, Long> gauges)
            implements StatusMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.STATS;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            status.writeTo(writer);
            writer.putLong(sinceMillis)
                    .putOptionalString(problem)
                    .putCounters(counters)
                    .putCounters(gauges);
        }

        static Stats read(WireReader reader)
                throws WireException
        {
            return new Stats(
                    Pong.read(reader),
                    reader.getLong(),
                    reader.getOptionalString(),
                    reader.getCounters(),
                    reader.getCounters());
        }
    }

    /**
     * Asks for a page of the counters by table of the connection's cluster and catalog. Answered by {@link Tables}.
     *
     * @param after only tables whose names sort after this one; empty for the first page
     */
    record GetTables(String after)
            implements StatusMessage
    {
        public GetTables
        {
            requireNonNull(after, "after is null");
        }

        @Override
        public MessageType type()
        {
            return MessageType.GET_TABLES;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putString(after);
        }

        static GetTables read(WireReader reader)
                throws WireException
        {
            return new GetTables(reader.getString());
        }
    }

    /**
     * A page of the counters by table.
     *
     * @param tables in the order of their names
     * @param more whether there are tables after the last one of this page; if so, the page is not empty
     */
    record Tables(List<CountedTable> tables, boolean more)
            implements StatusMessage
    {
        /**
         * The size at which a page is complete, in bytes of its encoding. It is far below the limit of a frame, so that
         * neither end is busy with a page for long.
         */
        public static final int PAGE_BYTES = 256 << 10;

        public Tables
        {
            tables = List.copyOf(tables);
            if (more && tables.isEmpty()) {
                throw new IllegalArgumentException("page without a table is not the last one");
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.TABLES;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putList(tables, (out, table) -> out.putString(table.table()).putCounters(table.counters())).putBoolean(more);
        }

        static Tables read(WireReader reader)
                throws WireException
        {
            return new Tables(reader.getList(in -> new CountedTable(in.getString(), in.getCounters())), reader.getBoolean());
        }
    }

    /**
     * The counters of a table.
     *
     * @param table {@code schema.table}
     * @param counters by name of {@link CounterNames}
     */
    record CountedTable(String table, Map<String, Long> counters)
    {
        public CountedTable
        {
            requireNonNull(table, "table is null");
            requireNonNull(counters, "counters is null");
        }
    }

    /**
     * Reports over TCP why the client cannot connect to the Unix socket of the worker of its host. The worker shows the
     * problem to coordinators of the catalog for a few seconds, so that the client repeats it. Answered by {@link Ack}.
     *
     * @param problem one sentence with its fix
     */
    record ReportProblem(String problem)
            implements StatusMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.REPORT_PROBLEM;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putString(problem);
        }

        static ReportProblem read(WireReader reader)
                throws WireException
        {
            return new ReportProblem(reader.getString());
        }
    }
}
