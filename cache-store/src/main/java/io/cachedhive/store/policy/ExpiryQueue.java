package io.cachedhive.store.policy;

import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.policy.EntryLinks.EntryList;

import java.util.Map;
import java.util.TreeMap;

import static com.google.common.base.Verify.verify;

/**
 * Entries by expiry second. Guarded by the store's lock.
 */
public final class ExpiryQueue
{
    private static final int TAG = 1;

    private final EntryLinks links = new EntryLinks();
    private final TreeMap<Long, EntryList> bySecond = new TreeMap<>();

    /**
     * Adds an entry, unless it never expires.
     */
    public void add(int entry, long expirySeconds)
    {
        if (expirySeconds != BlockTerms.NEVER) {
            bySecond.computeIfAbsent(expirySeconds, _ -> links.new EntryList(TAG)).addLast(entry);
        }
    }

    /**
     * @param expirySeconds as passed to {@link #add}
     */
    public void remove(int entry, long expirySeconds)
    {
        if (expirySeconds != BlockTerms.NEVER) {
            EntryList list = bySecond.get(expirySeconds);
            verify(list != null, "nothing expires in second %s", expirySeconds);
            list.remove(entry);
            if (list.isEmpty()) {
                bySecond.remove(expirySeconds);
            }
        }
    }

    /**
     * Returns an expired entry without removing it.
     *
     * @return {@link EvictionPolicy#NO_ENTRY} if there is none
     */
    public int peekExpired(long nowMillis)
    {
        Map.Entry<Long, EntryList> first = bySecond.firstEntry();
        if (first == null || !BlockTerms.isExpired(first.getKey(), nowMillis)) {
            return EvictionPolicy.NO_ENTRY;
        }
        return first.getValue().first();
    }
}
