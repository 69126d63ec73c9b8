package io.cachedhive.store.quota;

import io.airlift.log.Logger;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredTable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import static java.util.Objects.requireNonNull;

/**
 * Which tables have a quota, over all cache workers of the ring, and the share of it that each tier of this worker may have. Guarded by the store's lock, but for {@link #isKnown}.
 */
public final class TableQuotas
{
    /**
     * Tables beyond that many have none: what is said of them comes from the network.
     */
    public static final int MAX_TABLES = 10_000;

    // far above what Trino's metastores take
    private static final int MAX_NAME_LENGTH = 1000;

    private static final Logger log = Logger.get(TableQuotas.class);

    private final FileTable files;
    // what was said last; read without the lock
    private final Map<String, Long> quotas = new ConcurrentHashMap<>();
    // that have or had a quota in this run
    private final Map<String, StoredTable> tables = new HashMap<>();
    private double ringShare = 1;
    private boolean changed;
    private boolean unordered;
    private boolean warned;

    /**
     * @param kept of an earlier run
     */
    public TableQuotas(FileTable files, Map<String, Long> kept)
    {
        this.files = requireNonNull(files, "files is null");
        kept.forEach((table, bytes) -> set(table, OptionalLong.of(bytes)));
        changed = false;
        unordered = false;
    }

    /**
     * Whether that was said before. Without the lock.
     */
    public boolean isKnown(String table, OptionalLong bytes)
    {
        Long known = quotas.get(table);
        return bytes.isPresent() ? known != null && known == bytes.getAsLong() : known == null;
    }

    /**
     * @param bytes over all cache workers of the ring; empty for no quota
     */
    public void set(String table, OptionalLong bytes)
    {
        if (isKnown(table, bytes) || table.length() > MAX_NAME_LENGTH) {
            return;
        }
        StoredTable stored = tables.get(table);
        if (stored == null) {
            if (tables.size() == MAX_TABLES) {
                if (!warned) {
                    warned = true;
                    log.warn("Table %s and all further ones are kept without their quotas: there are %s tables with quotas already", table, MAX_TABLES);
                }
                return;
            }
            stored = files.keepTable(table);
            tables.put(table, stored);
        }
        // with blocks that came before
        unordered |= !stored.isWatched() && stored.ramBytes() + stored.ssdBytes() > 0;
        if (bytes.isPresent()) {
            quotas.put(table, bytes.getAsLong());
            stored.setLimit(share(bytes.getAsLong()));
        }
        else {
            quotas.remove(table);
            stored.setLimit(StoredTable.UNLIMITED);
        }
        changed = true;
    }

    /**
     * @param share of this worker in the weight of the ring, above 0 and at most 1
     */
    public void setRingShare(double share)
    {
        if (!(share > 0 && share <= 1)) {
            throw new IllegalArgumentException("share of the ring is not above 0 and at most 1: " + share);
        }
        ringShare = share;
        quotas.forEach((table, bytes) -> tables.get(table).setLimit(share(bytes)));
    }

    private long share(long quotaBytes)
    {
        // as a whole it is the quota itself, however large
        return ringShare == 1 ? quotaBytes : (long) (quotaBytes * ringShare);
    }

    /**
     * Tables that had blocks when they got a quota, which are not in order yet. Says so once.
     */
    public boolean takeUnordered()
    {
        boolean taken = unordered;
        unordered = false;
        return taken;
    }

    /**
     * The tables that have more than they may, in one tier or both.
     */
    public List<StoredTable> tooLarge()
    {
        List<StoredTable> found = new ArrayList<>();
        for (StoredTable table : tables.values()) {
            if (!table.hasRamRoom(0) || !table.hasSsdRoom(0)) {
                found.add(table);
            }
        }
        return found;
    }

    /**
     * All quotas, to be kept for the next run; empty if they are what was taken last.
     */
    public Optional<Map<String, Long>> takeChanged()
    {
        if (!changed) {
            return Optional.empty();
        }
        changed = false;
        return Optional.of(new TreeMap<>(quotas));
    }

    /**
     * They could not be kept: again.
     */
    public void setChanged()
    {
        changed = true;
    }

    /**
     * The tables with quotas.
     */
    public List<TableUsage> usage()
    {
        List<TableUsage> usage = new ArrayList<>();
        quotas.forEach((name, bytes) -> {
            StoredTable table = tables.get(name);
            usage.add(new TableUsage(name, bytes, table.limitBytes(), table.ramBytes(), table.ssdBytes()));
        });
        return usage;
    }
}
