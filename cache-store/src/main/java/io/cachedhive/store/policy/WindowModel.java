package io.cachedhive.store.policy;

import static io.cachedhive.store.policy.DigestTable.NONE;

/**
 * A cache of a few blocks without bytes, with a window of a given share and perhaps a filter in front of it, which tells how many requests it could have
 * answered.
 */
final class WindowModel
        implements PolicyEntries
{
    private final EntryLinks links = new EntryLinks();
    private final TinyLfuQueues queues;
    // whether blocks that would leave again at once are not let in at all
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
     * What is too much leaves at once.
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
     * Those that are not sampled any more would never be asked for, and may look as if they were worth their place.
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
