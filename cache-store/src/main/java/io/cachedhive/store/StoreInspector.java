package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.HotBlocks;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.LockYield;
import io.cachedhive.store.ssd.SsdBlock;
import io.cachedhive.store.ssd.SsdTier;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;

/**
 * Lists stored files and blocks without recording hits. Takes the lock for a few entries at a time, so a listing may or
 * may not include concurrent changes.
 */
public final class StoreInspector
{
    private static final long FILE_ORDER_NANOS = 60_000_000_000L;
    // each step reads only a few columns
    private static final int ORDINALS_AT_ONCE = 4096;

    private final Tiers tiers;
    private final ReentrantLock lock;
    private final FileTable files;
    private final RamTier ram;
    private final SsdTier ssd;
    private final StoreClock clock;

    // of the listing in progress; null without one
    private volatile FileOrder fileOrder;

    StoreInspector(Tiers tiers, StoreClock clock)
    {
        this.tiers = requireNonNull(tiers, "tiers is null");
        this.lock = tiers.lock();
        this.files = tiers.files();
        this.ram = tiers.ram();
        this.ssd = tiers.ssd();
        this.clock = requireNonNull(clock, "clock is null");
    }

    /**
     * Returns the stored blocks of a range and their terms.
     *
     * @return empty if the file version is not known
     */
    public Optional<FileDescription> describe(FileVersionId id, int firstBlock, int blockCount)
    {
        Optional<FileMetadata> metadata;
        lock.lock();
        try {
            metadata = tiers.files().get(id).filter(file -> !tiers.files().isForGuests(file)).map(StoredFile::metadata);
        }
        finally {
            lock.unlock();
        }
        return metadata.map(known -> describe(known, id, firstBlock, blockCount));
    }

    private FileDescription describe(FileMetadata metadata, FileVersionId id, int firstBlock, int blockCount)
    {
        Map<Integer, BlockTerms> blocks = new HashMap<>();
        int end = Math.addExact(firstBlock, blockCount);
        for (int first = firstBlock; first < end; first += Tiers.ENTRIES_AT_ONCE) {
            lock.lock();
            try {
                for (int block = first; block < Math.min(end, first + Tiers.ENTRIES_AT_ONCE); block++) {
                    Digest128 digest = id.block(block).digest();
                    Optional<BlockTerms> terms = ram.find(digest).map(Frame::terms).or(() -> ssd.find(digest).map(SsdBlock::terms));
                    if (terms.isPresent()) {
                        blocks.put(block, terms.get());
                    }
                }
            }
            finally {
                lock.unlock();
            }
            LockYield.giveWay(lock);
        }
        return new FileDescription(metadata, blocks);
    }

    /**
     * Returns the file versions with cached blocks whose ids start with the given bits, in no order. To list all files,
     * a client starts with 0 bits, and narrows the prefix when the result is empty. The order of the files is computed
     * once and kept for a minute.
     *
     * @param bits number of leading bits of the prefix to compare, 0 for all files
     * @return empty if more than {@code maxCount} files match
     */
    public Optional<List<CachedFile>> cachedFiles(int bits, long prefix, int maxCount)
    {
        FileOrder order = fileOrder;
        if (bits == 0 || order == null || clock.nanoTime() - order.madeNanos() > FILE_ORDER_NANOS) {
            // a listing starts, or resumes after a pause
            order = orderFiles();
            fileOrder = order;
        }
        int from = order.first(bits, prefix);
        int end = order.end(bits, prefix);
        if (end - from > maxCount) {
            return Optional.empty();
        }
        List<CachedFile> cached = new ArrayList<>();
        for (int i = from; i < end; i++) {
            Optional<StoredFile> file;
            lock.lock();
            try {
                // the ordinal may belong to another file by now
                long high = order.digestHigh(i);
                file = tiers.isClosed() ? Optional.empty() : files.find(order.ordinal(i)).filter(found -> found.id().digest().high() == high);
            }
            finally {
                lock.unlock();
            }
            file.flatMap(this::cachedFile).ifPresent(cached::add);
            LockYield.giveWay(lock);
        }
        return Optional.of(cached);
    }

    private FileOrder orderFiles()
    {
        FileOrder.Builder order = new FileOrder.Builder();
        boolean more = true;
        for (int first = 0; more; first += ORDINALS_AT_ONCE) {
            lock.lock();
            try {
                files.collect(first, first + ORDINALS_AT_ONCE, order::add);
                more = !tiers.isClosed() && first + ORDINALS_AT_ONCE < files.ordinalLimit();
            }
            finally {
                lock.unlock();
            }
            LockYield.giveWay(lock);
        }
        return order.build(clock.nanoTime());
    }

    /**
     * Releases the file order of an abandoned listing.
     */
    void forgetFileOrder()
    {
        FileOrder order = fileOrder;
        if (order != null && clock.nanoTime() - order.madeNanos() > FILE_ORDER_NANOS) {
            fileOrder = null;
        }
    }

    /**
     * Callers must not hold the lock.
     *
     * @return empty if no block of the file is cached
     */
    Optional<CachedFile> cachedFile(StoredFile file)
    {
        FileMetadata metadata = null;
        long ramBytes = 0;
        long ssdBytes = 0;
        long cachedBytes = 0;
        long pinnedBytes = 0;
        BlockClass bestClass = BlockClass.GUEST;
        long nextExpiry = BlockTerms.NEVER;
        int end = 1;
        for (int first = 0; first < end; first += Tiers.ENTRIES_AT_ONCE) {
            lock.lock();
            try {
                if (tiers.isClosed() || file.isDropped() || (file.ramBlocks() == 0 && file.ssdBlocks() == 0)) {
                    return Optional.empty();
                }
                if (metadata == null) {
                    metadata = file.metadata();
                    end = metadata.version().blockCount(tiers.blockSizeBytes());
                }
                for (int block = first; block < Math.min(end, first + Tiers.ENTRIES_AT_ONCE); block++) {
                    Digest128 digest = file.id().block(block).digest();
                    Optional<BlockTerms> inRam = ram.find(digest).map(Frame::terms);
                    Optional<BlockTerms> onSsd = ssd.find(digest).map(SsdBlock::terms);
                    if (inRam.isPresent() || onSsd.isPresent()) {
                        int length = metadata.version().blockLength(block, tiers.blockSizeBytes());
                        BlockTerms terms = inRam.or(() -> onSsd).get();
                        ramBytes += inRam.isPresent() ? length : 0;
                        ssdBytes += onSsd.isPresent() ? length : 0;
                        cachedBytes += length;
                        pinnedBytes += terms.blockClass() == BlockClass.PINNED ? length : 0;
                        bestClass = terms.blockClass().compareTo(bestClass) > 0 ? terms.blockClass() : bestClass;
                        nextExpiry = Math.min(nextExpiry, terms.expirySeconds());
                    }
                }
            }
            finally {
                lock.unlock();
            }
            LockYield.giveWay(lock);
        }
        return CachedFile.of(metadata, ramBytes, ssdBytes, cachedBytes, pinnedBytes, bestClass, nextExpiry);
    }

    /**
     * Returns the cached and pinned bytes of files, grouped by key.
     *
     * @param keyOf empty for files to skip; called under the lock
     * @return only keys with cached bytes
     */
    public <K> Map<K, PinUsage> pinUsage(Function<FileVersion, Optional<K>> keyOf)
    {
        Map<K, PinUsage> usage = new HashMap<>();
        for (StoredFile file : tiers.filesWith(version -> keyOf.apply(version).isPresent())) {
            cachedFile(file).ifPresent(cached -> keyOf.apply(cached.metadata().version())
                    .ifPresent(key -> usage.merge(key, new PinUsage(cached.cachedBytes(), cached.pinnedBytes()), PinUsage::add)));
            LockYield.giveWay(lock);
        }
        return usage;
    }

    /**
     * Returns the most frequently used blocks, hottest first.
     *
     * @param tier the blocks in RAM, or the blocks on SSD that are not in RAM
     * @param maxCount maximum size of the result
     */
    public List<BlockKey> hottestBlocks(BlockOrigin tier, int maxCount)
    {
        HotBlocks hottest = new HotBlocks(maxCount);
        switch (tier) {
            case RAM -> tiers.forEachStep((first, end) -> ram.collect(first, end, hottest));
            case SSD -> {
                for (int directory : ssd.directoryNumbers()) {
                    tiers.forEachStep((first, end) -> ssd.collect(directory, first, end, digest -> ram.find(digest).isPresent(), hottest));
                }
            }
        }
        return hottest.toList();
    }
}
