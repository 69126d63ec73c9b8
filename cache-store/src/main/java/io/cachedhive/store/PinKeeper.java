package io.cachedhive.store;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.LockYield;
import io.cachedhive.store.ssd.SsdBlock;
import io.cachedhive.store.ssd.SsdTier;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import static java.util.Objects.requireNonNull;

/**
 * Applies the pins by name to stored blocks and keeps pinned blocks within their limit. Takes the lock for a few blocks
 * at a time.
 */
public final class PinKeeper
{
    private static final Logger log = Logger.get(PinKeeper.class);

    private final Tiers tiers;
    private final ReentrantLock lock;
    private final RamTier ram;
    private final SsdTier ssd;
    private final BlockClasses classes;
    private final SsdOffers offers;

    PinKeeper(Tiers tiers, BlockClasses classes, SsdOffers offers)
    {
        this.tiers = requireNonNull(tiers, "tiers is null");
        this.lock = tiers.lock();
        this.ram = tiers.ram();
        this.ssd = tiers.ssd();
        this.classes = requireNonNull(classes, "classes is null");
        this.offers = requireNonNull(offers, "offers is null");
    }

    /**
     * Sets the files pinned by name and gives their stored and future blocks class pinned, within the limit on pinned
     * bytes. Reads cannot override it. Guests stay guests, and expiries stay. Blocks the calling thread for a pass over
     * all files.
     *
     * @param pinned called under the lock
     * @param changed selects the files whose pins may have changed: pinned blocks of unpinned files become normal;
     *         called under the lock
     * @return false if the full journal of an SSD directory left some blocks unchanged, so that the call has to be
     *         repeated
     */
    public boolean set(Predicate<FileVersion> pinned, Predicate<FileVersion> changed)
    {
        set(pinned);
        return apply(changed);
    }

    private boolean apply(Predicate<FileVersion> changed)
    {
        boolean complete = true;
        for (StoredFile file : tiers.filesWith(changed)) {
            complete &= apply(file);
            LockYield.giveWay(lock);
        }
        return complete;
    }

    /**
     * Sets the files pinned by name, for future blocks only.
     */
    public void set(Predicate<FileVersion> pinned)
    {
        classes.pinByName(pinned);
    }

    private boolean apply(StoredFile file)
    {
        boolean complete = true;
        int end = 1;
        for (int first = 0; first < end; first += Tiers.ENTRIES_AT_ONCE) {
            lock.lock();
            try {
                if (tiers.isClosed() || file.isDropped() || (file.ramBlocks() == 0 && file.ssdBlocks() == 0)) {
                    return true;
                }
                end = file.version().blockCount(tiers.blockSizeBytes());
                boolean pinned = classes.isPinnedByName(file);
                for (int block = first; block < Math.min(end, first + Tiers.ENTRIES_AT_ONCE); block++) {
                    Digest128 digest = file.id().block(block).digest();
                    Optional<Frame> frame = ram.find(digest).filter(found -> !found.isGuest());
                    Optional<SsdBlock> onSsd = ssd.find(digest);
                    boolean wasPinned = frame.filter(found -> found.terms().blockClass() == BlockClass.PINNED).isPresent() ||
                            onSsd.filter(found -> found.terms().blockClass() == BlockClass.PINNED).isPresent();
                    if (pinned || wasPinned) {
                        complete &= classes.setClass(digest, pinned ? BlockClass.PINNED : BlockClass.NORMAL);
                    }
                    if (pinned && onSsd.isEmpty()) {
                        // pinned blocks have to be on SSD, even if admission rejected them before
                        frame.ifPresent(found -> offers.request(found, true));
                    }
                }
            }
            finally {
                lock.unlock();
            }
            LockYield.giveWay(lock);
        }
        return complete;
    }

    /**
     * Unpins blocks while the limit is exceeded, or pins waiting blocks when the limit allows it. Waits for a call on another
     * thread, so that all is done when this one returns.
     */
    synchronized void keep()
    {
        try {
            if (!ssd.awaitRestored(Duration.ZERO)) {
                return;
            }
            boolean tooMany;
            boolean again;
            lock.lock();
            try {
                tooMany = !tiers.isClosed() && classes.pinnedBytes() > classes.maxPinnedBytes();
                // a pass over all files is too expensive for a single block
                long worthwhileBytes = Math.max(tiers.blockSizeBytes(), classes.maxPinnedBytes() / 64);
                again = !tiers.isClosed() && classes.takePinsWait(worthwhileBytes);
            }
            finally {
                lock.unlock();
            }
            if (tooMany) {
                unpinExcess();
            }
            else if (again && !apply(classes.pinnedByName())) {
                // the journal of an SSD directory is full
                setPinsWait();
            }
        }
        catch (RuntimeException | Error e) {
            // an exception would cancel the periodic task
            log.error(e, "Cannot enforce the limit on pinned blocks");
        }
    }

    private void setPinsWait()
    {
        lock.lock();
        try {
            classes.setPinsWait();
        }
        finally {
            lock.unlock();
        }
    }

    private void unpinExcess()
    {
        for (StoredFile file : tiers.filesWith(_ -> true)) {
            int end = 1;
            for (int first = 0; first < end; first += Tiers.ENTRIES_AT_ONCE) {
                lock.lock();
                try {
                    if (tiers.isClosed() || classes.pinnedBytes() <= classes.maxPinnedBytes()) {
                        return;
                    }
                    if (file.isDropped()) {
                        break;
                    }
                    end = file.version().blockCount(tiers.blockSizeBytes());
                    for (int block = first; block < Math.min(end, first + Tiers.ENTRIES_AT_ONCE) && classes.pinnedBytes() > classes.maxPinnedBytes(); block++) {
                        Digest128 digest = file.id().block(block).digest();
                        if (classes.keptClass(digest).filter(BlockClass.PINNED::equals).isPresent()) {
                            if (!classes.setClass(digest, BlockClass.HIGH)) {
                                // the journal is full, so the block stays pinned until the next run
                                return;
                            }
                            classes.refusePin(file);
                        }
                    }
                }
                finally {
                    lock.unlock();
                }
                LockYield.giveWay(lock);
            }
        }
    }
}
