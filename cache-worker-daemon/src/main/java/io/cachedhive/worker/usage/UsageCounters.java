package io.cachedhive.worker.usage;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.protocol.wire.WireWriter;
import io.cachedhive.worker.state.StateDirectory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;

import static java.util.Objects.requireNonNull;

/**
 * The counters of clients by Trino cluster, catalog and table, since the state directory was created.
 *
 * <p>One file contains the totals and the last batch of each client, so they are always written together. A batch that
 * is sent again after a restart therefore counts once. The file {@code counters} contains a magic number, the CRC32C of
 * the rest, the start of counting, the clients and the totals.
 */
public final class UsageCounters
{
    private static final Logger log = Logger.get(UsageCounters.class);

    /**
     * The cluster and catalog to which counters belong.
     */
    public record Account(String cluster, String catalog)
            implements Comparable<Account>
    {
        public Account
        {
            requireNonNull(cluster, "cluster is null");
            requireNonNull(catalog, "catalog is null");
        }

        @Override
        public int compareTo(Account other)
        {
            int result = cluster.compareTo(other.cluster);
            return result != 0 ? result : catalog.compareTo(other.catalog);
        }
    }

    /**
     * The name under which tables beyond the limit are counted.
     */
    public static final String OTHER_TABLES = "(other)";

    private static final String FILE = "counters";
    private static final long MAGIC = 0x31544e4356484355L;
    private static final int MAX_TABLES = 100_000;
    private static final int MAX_NAMES_PER_TABLE = 256;
    // a client that was silent for longer does not return, because each JVM generates a new client id when it starts
    private static final Duration CLIENT_LIFETIME = Duration.ofDays(2);

    private final StateDirectory state;
    private final Clock clock;
    @GuardedBy("this")
    private final Map<Account, Map<String, Map<String, Long>>> totals = new TreeMap<>();
    @GuardedBy("this")
    private final Map<Digest128, ClientProgress> clients = new TreeMap<>();
    @GuardedBy("this")
    private int tableCount;
    @GuardedBy("this")
    private long sinceMillis;
    @GuardedBy("this")
    private boolean changed;
    // used only by the thread that saves
    private boolean writeFailed;

    private record ClientProgress(long lastBatch, long lastSeenMillis) {}

    public UsageCounters(StateDirectory state, Clock clock)
    {
        this.state = requireNonNull(state, "state is null");
        this.clock = requireNonNull(clock, "clock is null");
        sinceMillis = clock.millis();
        changed = true;
        try {
            byte[] content = state.read(FILE).orElse(null);
            if (content != null) {
                decode(content);
                changed = false;
            }
        }
        catch (IOException | IllegalArgumentException e) {
            totals.clear();
            clients.clear();
            tableCount = 0;
            log.warn("Cannot read the counters in %s (%s): starting from zero", state.path(), e.getMessage());
        }
    }

    /**
     * Adds the counters of a batch.
     *
     * @param batch the client's batch number: 1, 2, 3, ...; a batch that is not above the last one counted is ignored
     * @return whether the batch was counted
     */
    public synchronized boolean add(Account account, Digest128 client, long batch, Map<String, Map<String, Long>> counters)
    {
        ClientProgress progress = clients.get(client);
        if (progress != null && batch <= progress.lastBatch()) {
            return false;
        }
        clients.put(client, new ClientProgress(batch, clock.millis()));
        Map<String, Map<String, Long>> tables = totals.computeIfAbsent(account, _ -> new TreeMap<>());
        counters.forEach((table, deltas) -> {
            Map<String, Long> total = table(tables, table);
            deltas.forEach((name, delta) -> {
                if (total.containsKey(name) || total.size() < MAX_NAMES_PER_TABLE) {
                    total.merge(name, delta, Long::sum);
                }
            });
        });
        changed = true;
        return true;
    }

    @GuardedBy("this")
    private Map<String, Long> table(Map<String, Map<String, Long>> tables, String name)
    {
        Map<String, Long> known = tables.get(name);
        if (known != null) {
            return known;
        }
        String counted = tableCount < MAX_TABLES ? name : OTHER_TABLES;
        return tables.computeIfAbsent(counted, _ -> {
            tableCount++;
            return new TreeMap<>();
        });
    }

    /**
     * Returns the counters by table.
     */
    public synchronized Map<String, Map<String, Long>> tables(Account account)
    {
        ImmutableMap.Builder<String, Map<String, Long>> tables = ImmutableMap.builder();
        totals.getOrDefault(account, ImmutableMap.of()).forEach((table, counters) -> tables.put(table, ImmutableMap.copyOf(counters)));
        return tables.buildOrThrow();
    }

    public synchronized List<Account> accounts()
    {
        return ImmutableList.copyOf(totals.keySet());
    }

    /**
     * Returns when counting started, in milliseconds since the Unix epoch.
     */
    public synchronized long sinceMillis()
    {
        return sinceMillis;
    }

    /**
     * Writes the file if the counters have changed. Call it about every second, from one thread at a time.
     */
    public void save()
    {
        byte[] content;
        synchronized (this) {
            if (!changed) {
                return;
            }
            long oldest = clock.millis() - CLIENT_LIFETIME.toMillis();
            clients.values().removeIf(progress -> progress.lastSeenMillis() < oldest);
            content = encode();
            changed = false;
        }
        try {
            state.write(FILE, content);
            writeFailed = false;
        }
        catch (IOException e) {
            if (!writeFailed) {
                log.warn("Counters cannot be written to %s (%s): what is counted now is lost at a restart", state.path(), e);
            }
            writeFailed = true;
            synchronized (this) {
                changed = true;
            }
        }
    }

    @GuardedBy("this")
    private byte[] encode()
    {
        ByteBuffer body = new WireWriter(4096)
                .putLong(sinceMillis)
                .putList(clients.entrySet(), (out, client) -> out
                        .putLong(client.getKey().high())
                        .putLong(client.getKey().low())
                        .putLong(client.getValue().lastBatch())
                        .putLong(client.getValue().lastSeenMillis()))
                .putList(totals.entrySet(), (out, account) -> out
                        .putString(account.getKey().cluster())
                        .putString(account.getKey().catalog())
                        .putList(account.getValue().entrySet(), (inner, table) -> inner
                                .putString(table.getKey())
                                .putCounters(table.getValue())))
                .finish();
        ByteBuffer file = new WireWriter(16 + body.remaining())
                .putLong(MAGIC)
                .putLong(checksum(body))
                .putRest(body)
                .finish();
        byte[] content = new byte[file.remaining()];
        file.get(content);
        return content;
    }

    @SuppressWarnings("GuardedBy") // called by the constructor only
    private void decode(byte[] content)
            throws WireException
    {
        WireReader header = new WireReader(ByteBuffer.wrap(content));
        if (header.getLong() != MAGIC) {
            throw new WireException("not a file of counters");
        }
        long checksum = header.getLong();
        ByteBuffer body = header.getRest();
        if (checksum(body) != checksum) {
            throw new WireException("checksum differs");
        }
        WireReader reader = new WireReader(body);
        long since = reader.getLong();
        reader.getList(in -> clients.put(new Digest128(in.getLong(), in.getLong()), new ClientProgress(in.getLong(), in.getLong())) == null);
        reader.getList(in -> {
            Map<String, Map<String, Long>> tables = totals.computeIfAbsent(new Account(in.getString(), in.getString()), _ -> new TreeMap<>());
            return in.getList(inner -> {
                String table = inner.getString();
                tableCount++;
                return tables.put(table, new TreeMap<>(inner.getCounters())) == null;
            }).size();
        });
        reader.expectEnd();
        sinceMillis = since;
    }

    private static long checksum(ByteBuffer body)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(body.duplicate());
        return checksum.getValue();
    }
}
