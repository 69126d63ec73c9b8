package io.cachedhive.store.policy;

import static io.cachedhive.store.policy.DigestTable.NONE;

/**
 * A cache model of a few blocks without contents, with a given window and optionally an admission filter. It reports
 * the hits of requests.
 */
final class WindowModel
        implements PolicyEntries
{
    private final EntryLinks links = new EntryLinks();
    private final TinyLfuQueues queues;
    // whether to reject blocks that would be evicted again at once
    private final boolean filter;
    private final DigestTable entries = new DigestTable();
    private int capacity;

    WindowModel(FrequencySketch sketch, double share, boolean filter)
    {
        this.queues = new TinyLfuQueues(links, 1, this, sketch, share);
        this.filter = filter;
    }

    void setShare(double share)
    {
        queues.setWindowShare(share);
    }

    /**
     * Sets the capacity and evicts the excess.
     */
    void setCapacity(int count)
    {
        capacity = count;
        while (entries.size() > capacity) {
            evict();
        }
    }

    /**
     * @return whether it was a hit
     */
    boolean request(long high, long low)
    {
        int entry = entries.find(high, low);
        if (entry != NONE) {
            queues.use(entry);
            return true;
        }
        if (entries.size() == capacity) {
            if (filter && !queues.wouldStay(high, low)) {
                return false;
            }
            evict();
        }
        queues.add(entries.insert(high, low));
        return false;
    }

    private void evict()
    {
        entries.remove(queues.pollVictim());
    }

    /**
     * Removes blocks outside the new sample, because they would never be requested again but could keep their places.
     */
    void retain(int sampleMask)
    {
        for (int entry = 0; entry < entries.end(); entry++) {
            if (links.tag(entry) != 0 && !AdaptiveWindow.isSampled(entries.high(entry), sampleMask)) {
                queues.remove(entry);
                entries.remove(entry);
            }
        }
    }

    @Override
    public long digestHigh(int entry)
    {
        return entries.high(entry);
    }

    @Override
    public long digestLow(int entry)
    {
        return entries.low(entry);
    }

    @Override
    public boolean isPinned(int entry)
    {
        return false;
    }
}
