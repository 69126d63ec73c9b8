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
 * The quotas of tables over all cache workers of the ring, and the limits that follow for each tier of this worker.
 * Guarded by the store's lock, except {@link #isKnown}.
 */
public final class TableQuotas
{
    /**
     * Limit on the number of tables with quotas, because they come from the network.
     */
    public static final int MAX_TABLES = 10_000;

    // far above the limits of Trino's metastores
    private static final int MAX_NAME_LENGTH = 1000;

    private static final Logger log = Logger.get(TableQuotas.class);

    private final FileTable files;
    // current quotas; read without the lock
    private final Map<String, Long> quotas = new ConcurrentHashMap<>();
    // tables that have or had a quota in this run
    private final Map<String, StoredTable> tables = new HashMap<>();
    private double ringShare = 1;
    private boolean changed;
    private boolean unordered;
    private boolean warned;

    /**
     * @param kept quotas of an earlier run
     */
    public TableQuotas(FileTable files, Map<String, Long> kept)
    {
        this.files = requireNonNull(files, "files is null");
        kept.forEach((table, bytes) -> set(table, OptionalLong.of(bytes)));
        changed = false;
        unordered = false;
    }

    /**
     * Returns whether the table already has this quota. May be called without the lock.
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
        // the table has blocks that are older than the quota
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
     * @param share fraction of the ring's weight that is this worker's, above 0 and at most 1
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
        // keeps large quotas exact
        return ringShare == 1 ? quotaBytes : (long) (quotaBytes * ringShare);
    }

    /**
     * Returns whether some tables have blocks that are older than their first quota and not in a queue, and clears the
     * mark.
     */
    public boolean takeUnordered()
    {
        boolean taken = unordered;
        unordered = false;
        return taken;
    }

    /**
     * Returns the tables that exceed their limit in a tier.
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
     * Returns all quotas to persist; empty if they did not change since the last call.
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
     * Makes {@link #takeChanged} return the quotas again, because persisting them failed.
     */
    public void setChanged()
    {
        changed = true;
    }

    /**
     * Returns the tables with quotas.
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
