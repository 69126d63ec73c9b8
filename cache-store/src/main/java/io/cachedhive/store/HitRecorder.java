package io.cachedhive.store;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.HitBuffer.Hit;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.sizing.CacheSizer;
import io.cachedhive.store.ssd.LockYield;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * Records hits that clients had in shared memory. Threads that serve requests only add them to a buffer. The
 * maintenance thread passes them on to the eviction policies, in batches under the store's lock, and to the sizer.
 */
final class HitRecorder
{
    private static final Logger log = Logger.get(HitRecorder.class);

    private final Tiers tiers;
    private final ReentrantLock lock;
    private final SsdOffers offers;
    private final CacheSizer sizer;
    private final HitBuffer buffer = new HitBuffer();

    HitRecorder(Tiers tiers, SsdOffers offers, CacheSizer sizer)
    {
        this.tiers = requireNonNull(tiers, "tiers is null");
        this.lock = tiers.lock();
        this.offers = requireNonNull(offers, "offers is null");
        this.sizer = requireNonNull(sizer, "sizer is null");
    }

    /**
     * Adds a hit to the buffer. Never waits and takes no lock.
     *
     * @param ahead whether the block was prefetched and this is its first read
     */
    void record(Digest128 digest, boolean ahead)
    {
        buffer.add(new Hit(digest, ahead));
    }

    /**
     * Records the buffered hits. Waits for a call on another thread, so that all hits that were added before are
     * recorded when this one returns.
     */
    synchronized void drain()
    {
        try {
            List<Hit> hits = new ArrayList<>(Tiers.ENTRIES_AT_ONCE);
            int drained = 0;
            // at most what the buffer can hold, whatever is added meanwhile
            while (drained < HitBuffer.CAPACITY && buffer.drainTo(hits, Tiers.ENTRIES_AT_ONCE) > 0) {
                record(hits);
                drained += hits.size();
                hits.clear();
                LockYield.giveWay(lock);
            }
        }
        catch (RuntimeException | Error e) {
            // an exception would cancel the periodic task
            log.error(e, "Cannot record hits");
        }
    }

    private void record(List<Hit> hits)
    {
        // bytes of each block, and whether this worker has it
        int[] lengths = new int[hits.size()];
        boolean[] held = new boolean[hits.size()];
        lock.lock();
        try {
            if (tiers.isClosed()) {
                return;
            }
            for (int i = 0; i < lengths.length; i++) {
                Hit hit = hits.get(i);
                Optional<Frame> frame = tiers.ram().find(hit.digest());
                if (frame.isPresent()) {
                    tiers.ram().use(frame.get());
                    offers.request(frame.get(), false);
                    // the owner records the hits of guests
                    lengths[i] = frame.get().isGuest() ? 0 : frame.get().length();
                    held[i] = !hit.ahead();
                }
                else {
                    tiers.ssd().use(hit.digest());
                    lengths[i] = tiers.blockSizeBytes();
                }
            }
        }
        finally {
            lock.unlock();
        }
        for (int i = 0; i < lengths.length; i++) {
            if (lengths[i] > 0) {
                Digest128 digest = hits.get(i).digest();
                boolean isHeld = held[i];
                sizer.request(digest.high(), digest.low(), lengths[i], () -> isHeld);
            }
        }
    }

    /**
     * Returns the number of hits that were lost because the buffer was full.
     */
    long lost()
    {
        return buffer.lost();
    }
}
