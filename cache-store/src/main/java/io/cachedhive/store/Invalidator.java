package io.cachedhive.store;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ssd.LockYield;
import io.cachedhive.store.ssd.SsdTier;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import static java.util.Objects.requireNonNull;

/**
 * Removes outdated or unwanted file versions: single ones (a drop), all that match and are of no use any more (a
 * release), or all that match on request (a flush).
 */
public final class Invalidator
{
    private static final Logger log = Logger.get(Invalidator.class);

    private final Tiers tiers;
    private final StoreInspector inspector;
    private final ReentrantLock lock;
    private final FileTable files;
    private final SsdTier ssd;
    private final SsdTier.RunKeeper runKeeper;

    // changed under the lock
    private volatile long flushes;

    Invalidator(Tiers tiers, StoreInspector inspector, StateDirectory state, CacheWorkerId workerId)
    {
        this.tiers = requireNonNull(tiers, "tiers is null");
        this.inspector = requireNonNull(inspector, "inspector is null");
        this.lock = tiers.lock();
        this.files = tiers.files();
        this.ssd = tiers.ssd();
        requireNonNull(state, "state is null");
        requireNonNull(workerId, "workerId is null");
        this.runKeeper = new SsdTier.RunKeeper()
        {
            @Override
            public void keep(long run)
                    throws StoreException
            {
                state.keepRun(workerId, run);
            }

            @Override
            public boolean isClosed()
            {
                return Invalidator.this.isClosed();
            }
        };
    }

    /**
     * Removes a file version, its blocks in both tiers and its open fills. None of them is served any more when this
     * method returns. Never waits for a disk.
     *
     * @return completes when a crash can no longer bring the file version back; with whether it was known
     */
    public CompletableFuture<Boolean> drop(FileVersionId id)
    {
        Optional<StoredFile> dropped;
        lock.lock();
        try {
            if (tiers.isClosed()) {
                return CompletableFuture.completedFuture(false);
            }
            dropped = files.get(id);
            dropped.ifPresent(file -> {
                files.drop(file);
                ssd.drop(file);
            });
        }
        finally {
            lock.unlock();
        }
        dropped.ifPresent(tiers::removeDroppedFromRam);
        dropped.ifPresent(ssd::removeDropped);
        // also after a concurrent drop of the same file, because it has to be durable when either call completes
        return ssd.makeDropsDurable(runKeeper).thenApply(durable -> {
            if (!durable && !isClosed()) {
                log.error("A dropped file is still on SSD, and neither its directory nor another nor the state directory can be written: after a crash it may come back");
            }
            return dropped.isPresent();
        });
    }

    /**
     * Removes the selected file versions, their blocks in both tiers and their open fills, to free the space. Takes the
     * lock for each file separately. After a crash the file versions may be back, which costs space only.
     *
     * @param covered selects the file versions to remove; called under the lock
     */
    public ReleaseResult release(Predicate<FileVersion> covered)
    {
        long released = 0;
        long blocks = 0;
        long bytes = 0;
        for (StoredFile file : tiers.find(file -> covered.test(file.version()))) {
            Optional<CachedFile> cached = inspector.cachedFile(file);
            lock.lock();
            try {
                if (tiers.isClosed() || file.isDropped()) {
                    continue;
                }
                blocks += file.ramBlocks() + file.ssdBlocks();
                files.drop(file);
                ssd.drop(file);
            }
            finally {
                lock.unlock();
            }
            tiers.removeDroppedFromRam(file);
            ssd.removeDropped(file);
            ssd.makeJournalRoom();
            released++;
            bytes += cached.map(known -> known.ramBytes() + known.ssdBytes()).orElse(0L);
            LockYield.giveWay(lock);
        }
        return new ReleaseResult(released, blocks, bytes);
    }

    /**
     * Waits for {@link #drop}. For tests.
     */
    boolean dropFile(FileVersionId id)
    {
        return drop(id).join();
    }

    /**
     * Removes the selected file versions, their blocks in both tiers and their open fills. When this method returns,
     * the removal is durable, and no read that begins afterwards gets one of these blocks. A read that began before may
     * still finish. The bytes in frames and extents remain until other blocks replace them.
     *
     * @param covered selects the file versions to remove; called under the lock
     */
    public FlushResult flush(Predicate<FileVersion> covered)
    {
        lock.lock();
        try {
            flushes++;
        }
        finally {
            lock.unlock();
        }
        List<StoredFile> dropped = new ArrayList<>();
        boolean durable;
        try {
            int next = 0;
            while (tiers.runStep(next, (first, end) -> dropCovered(first, end, covered, dropped))) {
                next += Tiers.ENTRIES_AT_ONCE;
                ssd.makeJournalRoom();
            }
        }
        finally {
            // dropped files stay dropped, whatever failed; the disks of a closed store may be gone, which must not
            // outdate them
            durable = !isClosed() && ssd.makeDropsDurable(runKeeper).join();
            dropped.forEach(tiers::removeDroppedFromRam);
            dropped.forEach(ssd::removeDropped);
        }
        return new FlushResult(dropped.size(), durable);
    }

    /**
     * Returns the number of flushes in this run.
     */
    public long count()
    {
        return flushes;
    }

    private boolean isClosed()
    {
        lock.lock();
        try {
            return tiers.isClosed();
        }
        finally {
            lock.unlock();
        }
    }

    private boolean dropCovered(int firstOrdinal, int endOrdinal, Predicate<FileVersion> covered, List<StoredFile> dropped)
    {
        int limit = files.ordinalLimit();
        for (int ordinal = firstOrdinal; ordinal < Math.min(endOrdinal, limit); ordinal++) {
            Optional<StoredFile> file = files.find(ordinal).filter(candidate -> covered.test(candidate.version()));
            if (file.isPresent()) {
                files.drop(file.get());
                ssd.drop(file.get());
                dropped.add(file.get());
            }
        }
        return endOrdinal < limit;
    }
}
