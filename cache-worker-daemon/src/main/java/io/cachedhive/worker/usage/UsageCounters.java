package io.cachedhive.worker.usage;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.StatusMessage.CountedTable;
import io.cachedhive.protocol.wire.StatusMessage.Tables;
import io.cachedhive.protocol.wire.StatusMessage.Usage;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.protocol.wire.WireWriter;

import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

import static java.util.Objects.requireNonNull;

/**
 * The counters of clients by Trino cluster, catalog and table, since the state directory was created.
 *
 * <p>A table that no client reads for 30 days is forgotten. Its counters stay in the sums of its catalog. {@link
 * UsageJournal} makes the counters durable. It writes the last batch of each client together with the tables that the
 * batch changed, so a batch that is sent again after a restart counts once.
 */
public final class UsageCounters
{
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
     * The name under which tables and catalogs beyond the limits are counted.
     */
    public static final String OTHER_TABLES = "(other)";

    /**
     * The time after which a table without reads is forgotten.
     */
    public static final Duration TABLE_LIFETIME = Duration.ofDays(30);

    static final int MAX_TABLES = 100_000;
    private static final Account OTHER_ACCOUNTS = new Account(OTHER_TABLES, OTHER_TABLES);
    private static final int MAX_ACCOUNTS = 1000;
    private static final int MAX_NAMES = 256;
    private static final int MAX_NAME_LENGTH = 128;
    private static final int MAX_CLIENTS = 16 << 10;
    // a client that was silent for longer has no batch without a reply
    private static final Duration CLIENT_LIFETIME = Duration.ofDays(30);
    private static final int TABLES_PER_RECORD = 1000;

    private final Clock clock;
    @GuardedBy("this")
    private final NavigableMap<Account, AccountUsage> accounts = new TreeMap<>();
    @GuardedBy("this")
    private final Map<Digest128, ClientProgress> clients = new HashMap<>();
    // the position of each counter in arrays of values
    @GuardedBy("this")
    private final Map<String, Integer> positions = new HashMap<>();
    @GuardedBy("this")
    private final List<String> names = new ArrayList<>();
    @GuardedBy("this")
    private int tableCount;
    @GuardedBy("this")
    private long sinceMillis;
    @GuardedBy("this")
    private final Set<TableUsage> changedTables = new LinkedHashSet<>();
    @GuardedBy("this")
    private final Set<Digest128> changedClients = new LinkedHashSet<>();

    private record ClientProgress(long lastBatch, long lastSeenMillis) {}

    private static final class AccountUsage
    {
        final Account account;
        final Values totals = new Values();
        final NavigableMap<String, TableUsage> tables = new TreeMap<>();

        AccountUsage(Account account)
        {
            this.account = account;
        }
    }

    private static final class TableUsage
    {
        final AccountUsage owner;
        final String name;
        final Values values = new Values();
        long lastReadMillis;

        TableUsage(AccountUsage owner, String name)
        {
            this.owner = owner;
            this.name = name;
        }
    }

    /**
     * Values by position: a map for each table would take several times the memory.
     */
    private static final class Values
    {
        private long[] values = {};

        void add(int position, long value)
        {
            set(position, (position < values.length ? values[position] : 0) + value);
        }

        void set(int position, long value)
        {
            if (position >= values.length) {
                long[] larger = new long[position + 1];
                System.arraycopy(values, 0, larger, 0, values.length);
                values = larger;
            }
            values[position] = value;
        }

        Map<String, Long> byName(List<String> names)
        {
            ImmutableMap.Builder<String, Long> byName = ImmutableMap.builder();
            for (int i = 0; i < values.length; i++) {
                if (values[i] != 0) {
                    byName.put(names.get(i), values[i]);
                }
            }
            return byName.buildOrThrow();
        }
    }

    public UsageCounters(Clock clock)
    {
        this.clock = requireNonNull(clock, "clock is null");
        sinceMillis = clock.millis();
    }

    /**
     * Adds the counters of a batch.
     *
     * @return whether the batch was counted; a batch that is not above the last one of its client is ignored
     */
    public synchronized boolean add(Account account, Usage batch)
    {
        ClientProgress progress = clients.get(batch.client());
        if (progress != null && batch.batch() <= progress.lastBatch()) {
            return false;
        }
        long now = clock.millis();
        clients.put(batch.client(), new ClientProgress(batch.batch(), now));
        if (clients.size() > MAX_CLIENTS) {
            clients.entrySet().stream()
                    .min(Comparator.comparingLong(entry -> entry.getValue().lastSeenMillis()))
                    .map(Map.Entry::getKey)
                    .ifPresent(clients::remove);
        }
        if (batch.counters().isEmpty()) {
            // hits only: to record them twice does no harm
            return true;
        }
        changedClients.add(batch.client());
        AccountUsage usage = account(accounts.containsKey(account) || accounts.size() < MAX_ACCOUNTS ? account : OTHER_ACCOUNTS);
        for (Map.Entry<String, Map<String, Long>> counted : batch.counters().entrySet()) {
            TableUsage table = table(usage, counted.getKey());
            table.lastReadMillis = now;
            changedTables.add(table);
            for (Map.Entry<String, Long> delta : counted.getValue().entrySet()) {
                int position = position(delta.getKey());
                if (position >= 0) {
                    table.values.add(position, delta.getValue());
                    usage.totals.add(position, delta.getValue());
                }
            }
        }
        return true;
    }

    @GuardedBy("this")
    private AccountUsage account(Account account)
    {
        return accounts.computeIfAbsent(account, AccountUsage::new);
    }

    @GuardedBy("this")
    private TableUsage table(AccountUsage usage, String name)
    {
        TableUsage known = usage.tables.get(name);
        if (known != null) {
            return known;
        }
        return newTable(usage, name.isEmpty() || tableCount >= MAX_TABLES ? OTHER_TABLES : name);
    }

    @GuardedBy("this")
    private TableUsage newTable(AccountUsage usage, String name)
    {
        TableUsage known = usage.tables.get(name);
        if (known != null) {
            return known;
        }
        TableUsage table = new TableUsage(usage, name);
        usage.tables.put(name, table);
        tableCount++;
        return table;
    }

    /**
     * Returns -1 for a counter beyond the limit, which is not counted.
     */
    @GuardedBy("this")
    private int position(String counter)
    {
        Integer position = positions.get(counter);
        if (position != null) {
            return position;
        }
        if (names.size() >= MAX_NAMES || counter.length() > MAX_NAME_LENGTH) {
            return -1;
        }
        names.add(counter);
        positions.put(counter, names.size() - 1);
        return names.size() - 1;
    }

    /**
     * Returns the counters by table, in the order of the tables' names, from the first table after the given one.
     *
     * @param after empty to begin with the first table
     */
    public synchronized Tables page(Account account, String after)
    {
        AccountUsage usage = accounts.get(account);
        if (usage == null) {
            return new Tables(ImmutableList.of(), false);
        }
        ImmutableList.Builder<CountedTable> page = ImmutableList.builder();
        int bytes = 0;
        for (TableUsage table : usage.tables.tailMap(after, after.isEmpty()).values()) {
            if (bytes >= Tables.PAGE_BYTES) {
                return new Tables(page.build(), true);
            }
            Map<String, Long> counters = table.values.byName(names);
            page.add(new CountedTable(table.name, counters));
            bytes += 8 + 3 * table.name.length();
            for (String name : counters.keySet()) {
                bytes += 12 + name.length();
            }
        }
        return new Tables(page.build(), false);
    }

    public synchronized List<Account> accounts()
    {
        return ImmutableList.copyOf(accounts.keySet());
    }

    /**
     * Returns the sums over all tables of a catalog, forgotten ones included.
     */
    public synchronized Map<String, Long> totals(Account account)
    {
        AccountUsage usage = accounts.get(account);
        return usage == null ? ImmutableMap.of() : usage.totals.byName(names);
    }

    /**
     * Returns the sums over all catalogs.
     */
    public synchronized Map<String, Long> totals()
    {
        Values sums = new Values();
        for (AccountUsage usage : accounts.values()) {
            for (int i = 0; i < usage.totals.values.length; i++) {
                sums.add(i, usage.totals.values[i]);
            }
        }
        return sums.byName(names);
    }

    /**
     * Returns the number of tables of all catalogs.
     */
    public synchronized int tableCount()
    {
        return tableCount;
    }

    /**
     * Returns when counting started, in milliseconds since the Unix epoch.
     */
    public synchronized long sinceMillis()
    {
        return sinceMillis;
    }

    /**
     * Forgets tables that were not read for 30 days, and clients that were silent for as long.
     *
     * @return the number of tables that were forgotten
     */
    public synchronized int forget()
    {
        long now = clock.millis();
        clients.values().removeIf(progress -> isExpired(progress.lastSeenMillis(), CLIENT_LIFETIME, now));
        int forgotten = 0;
        for (AccountUsage usage : accounts.values()) {
            int before = usage.tables.size();
            usage.tables.values().removeIf(table -> isExpired(table.lastReadMillis, TABLE_LIFETIME, now));
            forgotten += before - usage.tables.size();
        }
        tableCount -= forgotten;
        return forgotten;
    }

    private static boolean isExpired(long lastMillis, Duration lifetime, long nowMillis)
    {
        return lastMillis < nowMillis - lifetime.toMillis();
    }

    // ---- records: sums and tables have their values, not changes, so the last record of each counts

    /**
     * Returns a record of what has changed since the last call, or empty if nothing has.
     */
    synchronized Optional<ByteBuffer> changes()
    {
        if (changedTables.isEmpty() && changedClients.isEmpty()) {
            return Optional.empty();
        }
        Map<AccountUsage, List<TableUsage>> byAccount = new HashMap<>();
        changedTables.forEach(table -> byAccount.computeIfAbsent(table.owner, _ -> new ArrayList<>()).add(table));
        WireWriter record = new WireWriter(4096);
        putClients(record, changedClients);
        record.putInt(byAccount.size());
        for (Map.Entry<AccountUsage, List<TableUsage>> some : byAccount.entrySet()) {
            putTables(record, some.getKey(), some.getValue());
        }
        changedTables.clear();
        changedClients.clear();
        return Optional.of(record.finish());
    }

    /**
     * Returns a record of all clients, with which a complete file starts.
     */
    synchronized ByteBuffer progress()
    {
        WireWriter record = new WireWriter(4096);
        putClients(record, clients.keySet());
        return record.putInt(0).finish();
    }

    /**
     * A record of some tables of a catalog.
     *
     * @param next the last table of the record, if there are more
     */
    record TablesRecord(ByteBuffer record, Optional<String> next) {}

    /**
     * Returns a record of the next tables of a catalog.
     *
     * @param after empty to begin with the first table
     */
    synchronized TablesRecord tables(Account account, String after)
    {
        AccountUsage usage = accounts.get(account);
        List<TableUsage> tables = new ArrayList<>();
        Optional<String> next = Optional.empty();
        for (TableUsage table : usage.tables.tailMap(after, after.isEmpty()).values()) {
            if (tables.size() == TABLES_PER_RECORD) {
                next = Optional.of(tables.getLast().name);
                break;
            }
            tables.add(table);
        }
        WireWriter record = new WireWriter(64 << 10);
        putClients(record, Set.of());
        record.putInt(1);
        putTables(record, usage, tables);
        return new TablesRecord(record.finish(), next);
    }

    @GuardedBy("this")
    private void putClients(WireWriter record, Set<Digest128> ids)
    {
        record.putLong(sinceMillis);
        // a client may have been removed since it changed
        List<Map.Entry<Digest128, ClientProgress>> known = new ArrayList<>();
        for (Digest128 id : ids) {
            ClientProgress progress = clients.get(id);
            if (progress != null) {
                known.add(Map.entry(id, progress));
            }
        }
        record.putList(known, (out, client) -> out.putDigest(client.getKey()).putLong(client.getValue().lastBatch()).putLong(client.getValue().lastSeenMillis()));
    }

    @GuardedBy("this")
    private void putTables(WireWriter record, AccountUsage usage, List<TableUsage> tables)
    {
        record.putString(usage.account.cluster())
                .putString(usage.account.catalog())
                .putCounters(usage.totals.byName(names))
                .putInt(tables.size());
        for (TableUsage table : tables) {
            record.putString(table.name).putLong(table.lastReadMillis).putCounters(table.values.byName(names));
        }
    }

    /**
     * Adds what a record has. Later records replace earlier ones.
     */
    synchronized void restore(WireReader record)
            throws WireException
    {
        long now = clock.millis();
        sinceMillis = record.getLong();
        for (int left = record.getInt(); left > 0; left--) {
            Digest128 client = record.getDigest();
            // after the clock was set back, times in the future would never end
            ClientProgress progress = new ClientProgress(record.getLong(), Math.min(record.getLong(), now));
            if (!isExpired(progress.lastSeenMillis(), CLIENT_LIFETIME, now)) {
                clients.put(client, progress);
            }
        }
        for (int left = record.getInt(); left > 0; left--) {
            AccountUsage usage = account(new Account(record.getString(), record.getString()));
            restore(usage.totals, record.getCounters());
            for (int tables = record.getInt(); tables > 0; tables--) {
                String name = record.getString();
                long lastReadMillis = Math.min(record.getLong(), now);
                Map<String, Long> counters = record.getCounters();
                if (!isExpired(lastReadMillis, TABLE_LIFETIME, now)) {
                    TableUsage table = newTable(usage, name);
                    table.lastReadMillis = lastReadMillis;
                    restore(table.values, counters);
                }
            }
        }
        record.expectEnd();
    }

    @GuardedBy("this")
    private void restore(Values values, Map<String, Long> counters)
    {
        for (Map.Entry<String, Long> counter : counters.entrySet()) {
            int position = position(counter.getKey());
            if (position >= 0) {
                values.set(position, counter.getValue());
            }
        }
    }

    /**
     * Starts from zero, after records that are not valid.
     */
    synchronized void reset()
    {
        accounts.clear();
        clients.clear();
        changedTables.clear();
        changedClients.clear();
        tableCount = 0;
        sinceMillis = clock.millis();
    }
}
