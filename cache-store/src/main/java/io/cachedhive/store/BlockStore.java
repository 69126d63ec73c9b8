package io.cachedhive.store;

import com.google.common.collect.Maps;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.SsdRefusalCause;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.encryption.DataCipher;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.sizing.CacheSizer;
import io.cachedhive.store.ssd.DirectoryFormats;
import io.cachedhive.store.ssd.SsdTier;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * Stores the blocks of one host in a RAM tier (shared memory) and an SSD tier below it. Thread-safe.
 *
 * <p>Each part does one job on {@link Tiers}, under its single lock:
 * <ul>
 * <li>{@link StoreParts} opens and closes the store; {@link Upkeep} runs the periodic maintenance.
 * <li>{@link RamHits}, {@link BlockLoads} and {@link BlockFills} serve blocks from RAM, from SSD and from the origin.
 * <li>{@link HitRecorder} records the hits that clients had in shared memory.
 * <li>{@link SsdOffers} queues blocks for SSD.
 * <li>{@link BlockClasses}, {@link PinKeeper} and {@link QuotaKeeper} keep block classes, pins and table quotas.
 * <li>{@link Invalidator} drops and flushes files; {@link StoreInspector} lists the contents.
 * </ul>
 */
public final class BlockStore
        implements AutoCloseable
{
    private static final long MAX_QUEUED_BYTES = 64 << 20;
    // small stores open fully restored; larger stores restore the rest while in use, so that opening stays short
    private static final long BLOCKS_RESTORED_FIRST = 1 << 18;

    private final StoreParts parts;
    private final Tiers tiers;
    private final ReentrantLock lock;
    private final Duration ttl;
    private final StoreClock clock;
    private final CacheSizer sizer;
    private final BlockClasses classes;
    private final SsdOffers offers;
    private final RamHits hits;
    private final HitRecorder hitRecorder;
    private final BlockLoads loads;
    private final BlockFills fills;
    private final PinKeeper pinKeeper;
    private final QuotaKeeper quotaKeeper;
    private final StoreInspector inspector;
    private final Invalidator invalidator;
    private final Upkeep upkeep;

    // guarded by the lock unless their methods specify otherwise
    private final FileTable files;
    private final RamTier ram;
    private final SsdTier ssd;

    private BlockStore(StoreParts parts, StoreConfig config, StoreEnvironment environment)
    {
        this.parts = requireNonNull(parts, "parts is null");
        this.tiers = parts.tiers();
        this.lock = tiers.lock();
        this.files = tiers.files();
        this.ram = tiers.ram();
        this.ssd = tiers.ssd();
        this.ttl = config.ttl();
        this.clock = environment.clock();
        this.classes = new BlockClasses(tiers, config.pinnedMaxShare());
        this.offers = new SsdOffers(tiers, classes);
        this.hits = new RamHits(tiers, offers);
        this.inspector = new StoreInspector(tiers, clock);
        this.invalidator = new Invalidator(tiers, inspector, parts.state(), parts.workerId());
        this.loads = new BlockLoads(tiers, hits);
        this.pinKeeper = new PinKeeper(tiers, classes, offers);
        this.quotaKeeper = new QuotaKeeper(tiers, parts.quotas(), parts.state(), clock);
        this.fills = new BlockFills(tiers, classes, offers, hits, invalidator);
        this.sizer = new CacheSizer(tiers.capacityBytes(), tiers.blockSizeBytes(), tiers.isAboveSsd(), clock);
        this.hitRecorder = new HitRecorder(tiers, offers, sizer);
        this.upkeep = new Upkeep(tiers, hitRecorder, sizer, inspector, quotaKeeper, pinKeeper, environment);
    }

    /**
     * Opens a store: restores the blocks on SSD, frees the shared memory left by the last run and allocates new memory.
     * A large store restores part of its blocks while it is already in use.
     *
     * @throws StoreException if this machine cannot provide the configuration, or another worker uses the same
     *         directory
     */
    public static BlockStore open(StoreConfig config, StoreEnvironment environment)
            throws StoreException
    {
        return open(config, environment, BLOCKS_RESTORED_FIRST);
    }

    /**
     * @param blocksRestoredFirst blocks restored before this method returns, per SSD directory
     */
    static BlockStore open(StoreConfig config, StoreEnvironment environment, long blocksRestoredFirst)
            throws StoreException
    {
        StoreParts parts = StoreParts.open(config, environment, blocksRestoredFirst);
        boolean success = false;
        try {
            BlockStore store = new BlockStore(parts, config, environment);
            store.start(environment);
            success = true;
            return store;
        }
        finally {
            if (!success) {
                parts.close();
            }
        }
    }

    private void start(StoreEnvironment environment)
    {
        ssd.start(Math.min(MAX_QUEUED_BYTES, ram.frameBytes() / 4), offers::offerAgain, environment);
        upkeep.beat();
        parts.memoryFile().writer().setState(MemoryState.LIVE);
        upkeep.start(() -> {
            loads.refuseLate();
            ssd.endLateDrops();
        });
        parts.memoryFile().grow(environment.threads(), this::useGrownMemory);
    }

    private void useGrownMemory()
    {
        lock.lock();
        try {
            if (!tiers.isClosed()) {
                ram.grow();
            }
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Returns the pins of files selected by name.
     */
    public PinKeeper pins()
    {
        return pinKeeper;
    }

    public QuotaKeeper quotas()
    {
        return quotaKeeper;
    }

    /**
     * Returns the part that drops and flushes files.
     */
    public Invalidator flushes()
    {
        return invalidator;
    }

    /**
     * Returns the view of the stored files and blocks.
     */
    public StoreInspector contents()
    {
        return inspector;
    }

    /**
     * Returns the predictor of hit rates at other capacities.
     */
    public CacheSizer sizer()
    {
        return sizer;
    }

    /**
     * Returns the format versions of the SSD directories.
     */
    public DirectoryFormats ssdFormats()
    {
        return ssd.formats();
    }

    /**
     * Returns what encrypts the files of the state directory; empty if they are not encrypted.
     */
    public Optional<DataCipher> stateCipher()
    {
        return parts.state().cipher();
    }

    public CacheWorkerId workerId()
    {
        return parts.workerId();
    }

    /**
     * Returns the random id of this run.
     */
    public Digest128 instance()
    {
        return parts.instance();
    }

    public int blockSizeBytes()
    {
        return tiers.blockSizeBytes();
    }

    /**
     * Returns the absolute path of the shared-memory file.
     */
    public Path memoryFile()
    {
        return parts.memoryFile().path();
    }

    /**
     * Returns the metadata of a file version.
     *
     * @return empty if the file version was never bound (guest blocks do not bind it), was dropped, or lost its last
     *         block long ago
     */
    public Optional<FileMetadata> file(FileVersionId id)
    {
        lock.lock();
        try {
            return files.get(id).filter(file -> !files.isForGuests(file)).map(StoredFile::metadata);
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Binds a file version to the ETag of the first response of the origin. The first block on SSD makes the binding
     * durable.
     *
     * @return whether the file version is bound to this ETag; if false, it is bound to another ETag and the caller has
     *         to drop it
     */
    public boolean bind(FileVersion version, Optional<String> etag, boolean provisional, String table)
    {
        FileVersionId id = version.id();
        FileMetadata metadata = new FileMetadata(version, etag, provisional, table);
        Optional<StoredFile> ofGuests;
        lock.lock();
        try {
            Optional<StoredFile> bound = files.get(id);
            // the origin's response outranks another worker's, and the ETag itself is known only now
            ofGuests = bound.filter(files::isForGuests);
            if (bound.isPresent() && ofGuests.isEmpty()) {
                return bound.get().etagDigest() == metadata.etagDigest();
            }
            ofGuests.ifPresent(files::drop);
            files.add(id, metadata);
        }
        finally {
            lock.unlock();
        }
        ofGuests.ifPresent(tiers::removeDroppedFromRam);
        return true;
    }

    /**
     * Marks the file version as no longer provisional. Does nothing if it is not bound.
     */
    public void confirm(FileVersionId id)
    {
        lock.lock();
        try {
            files.get(id).ifPresent(file -> {
                files.confirm(file);
                ssd.confirm(file);
            });
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Returns whether the RAM tier can keep at least one guest block.
     */
    public boolean keepsGuests()
    {
        return ram.maxGuestBytes() >= blockSizeBytes();
    }

    /**
     * Drops the guests of a file version that has no other blocks, since this worker cannot verify the file's state.
     */
    public void dropGuests(FileVersionId id)
    {
        Optional<StoredFile> ofGuests;
        lock.lock();
        try {
            ofGuests = files.get(id).filter(files::isForGuests);
            ofGuests.ifPresent(files::drop);
        }
        finally {
            lock.unlock();
        }
        // guests are never on SSD
        ofGuests.ifPresent(tiers::removeDroppedFromRam);
    }

    /**
     * Keeps another worker's block in RAM while there is spare capacity, unless the file is known with another ETag.
     *
     * @param etagDigest as the source worker reported it
     * @param checksum CRC32C of the bytes as the source worker sent them
     * @return whether the block is in RAM
     * @throws IllegalArgumentException if the file has no such block, or the block has another length
     */
    public boolean offerGuest(FileVersion version, int block, String table, long etagDigest, int checksum, ByteBuffer bytes)
    {
        return offerGuest(version, block, table, etagDigest, checksum, bytes, invalidator.count());
    }

    /**
     * Keeps another worker's block in RAM, unless a flush ran since the caller checked the block.
     *
     * @param flushesBefore {@link Invalidator#count} before that check; after any later flush the block is not kept
     */
    public boolean offerGuest(FileVersion version, int block, String table, long etagDigest, int checksum, ByteBuffer bytes, long flushesBefore)
    {
        return fills.offerGuest(version, block, table, etagDigest, checksum, bytes, terms(Optional.of(BlockClass.GUEST), OptionalLong.empty()), flushesBefore);
    }

    /**
     * Returns whether the SSD write queues are so full that they would reject much more.
     */
    public boolean isBehindWriting()
    {
        lock.lock();
        try {
            return ssd.isBehindWriting();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Returns the block if it is in RAM, and records a hit.
     */
    public Optional<PinnedBlock> pin(BlockKey key)
    {
        lock.lock();
        try {
            if (tiers.isClosed()) {
                return Optional.empty();
            }
            return hits.pin(key.digest(), BlockOrigin.RAM);
        }
        finally {
            lock.unlock();
        }
    }

    public boolean isOnSsd(BlockKey key)
    {
        lock.lock();
        try {
            return ssd.find(key.digest()).isPresent();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Passes on the block from RAM, or reads it from SSD into a frame and verifies it. Never waits for a disk. Concurrent
     * calls for the same block share one read.
     *
     * <p>A load is refused at once if the SSD directory of the block loads too many blocks already, or does not answer.
     * It is refused later if its read takes 0.8 s or no frame becomes free.
     */
    public void load(BlockKey key, LoadListener listener)
    {
        loads.load(key.digest(), listener);
    }

    /**
     * Returns the block from RAM, or reads it from SSD. Waits for the disk.
     *
     * @return empty if the block is in neither tier, failed verification, or the load was refused
     */
    public Optional<PinnedBlock> load(BlockKey key)
    {
        CompletableFuture<Optional<PinnedBlock>> result = new CompletableFuture<>();
        load(key, new LoadListener()
        {
            @Override
            public void loaded(PinnedBlock block)
            {
                result.complete(Optional.of(block));
            }

            @Override
            public void absent()
            {
                result.complete(Optional.empty());
            }

            @Override
            public void refused(LoadRefusal cause)
            {
                result.complete(Optional.empty());
            }
        });
        return result.join();
    }

    /**
     * Allocates a frame for a block of class normal that expires after {@code cache.ttl}. Never waits. The file has to
     * be bound first.
     *
     * @param length bytes of the block, see {@link FileVersion#blockLength}
     * @param etagDigest of the response with the bytes
     * @return empty if no frame is free, or the file is not bound to this ETag
     * @throws IllegalArgumentException if the file has no such block, or the block has another length
     */
    public Optional<Fill> beginFill(BlockKey key, int length, long etagDigest)
    {
        return beginFill(key, length, etagDigest, terms(Optional.empty(), OptionalLong.empty()));
    }

    /**
     * Allocates a frame for a block with the given class and expiry.
     */
    public Optional<Fill> beginFill(BlockKey key, int length, long etagDigest, BlockTerms terms)
    {
        return beginFill(key, length, etagDigest, terms, invalidator.count());
    }

    /**
     * Allocates a frame for a block, unless a flush ran since the caller requested its bytes.
     *
     * @param flushesBefore {@link Invalidator#count} before that request; after any later flush the block is not kept
     */
    public Optional<Fill> beginFill(BlockKey key, int length, long etagDigest, BlockTerms terms, long flushesBefore)
    {
        return fills.begin(key, length, etagDigest, terms, flushesBefore).map(Fill.class::cast);
    }

    /**
     * Allocates a frame for a block like {@link #beginFill(BlockKey, int, long, BlockTerms, long)}, and waits for one if
     * none is free: those of evicted blocks rest for a tenth of a second before they are used again.
     *
     * @param patience how long to wait
     */
    public Optional<Fill> awaitFill(BlockKey key, int length, long etagDigest, BlockTerms terms, long flushesBefore, Duration patience)
    {
        return fills.await(key, length, etagDigest, terms, flushesBefore, patience).map(Fill.class::cast);
    }

    /**
     * Returns the terms of a block that is filled now.
     *
     * @param blockClass empty for normal
     * @param ttlMillis from now; empty for {@code cache.ttl}
     */
    public BlockTerms terms(Optional<BlockClass> blockClass, OptionalLong ttlMillis)
    {
        long now = clock.currentTimeMillis();
        long millis = ttlMillis.orElseGet(ttl::toMillis);
        return BlockTerms.until(blockClass.orElse(BlockClass.NORMAL), millis > Long.MAX_VALUE - now ? Long.MAX_VALUE : now + millis);
    }

    /**
     * Changes the class of a block in both tiers, and keeps its expiry. The change of a block on SSD is durable. Does
     * nothing for guests and unknown blocks. A block of a file pinned by name stays pinned. A block that exceeds the
     * limit on pinned bytes gets class high.
     *
     * @throws IllegalArgumentException if the class is that of guests
     */
    public void setClass(Digest128 digest, BlockClass blockClass)
    {
        if (blockClass == BlockClass.GUEST) {
            throw new IllegalArgumentException("a block of this worker's own cannot become a guest");
        }
        lock.lock();
        try {
            if (!tiers.isClosed()) {
                classes.request(digest, blockClass);
            }
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Records that a client read the block from shared memory. The policies see it when the periodic maintenance has
     * run, within 100 ms. Takes no lock.
     */
    public void recordHit(long digestHigh, long digestLow)
    {
        recordHit(digestHigh, digestLow, false);
    }

    /**
     * Records that a client read the block from shared memory. The policies see it when the periodic maintenance has
     * run, within 100 ms. Takes no lock.
     *
     * @param ahead whether the block was prefetched and this is its first read
     */
    public void recordHit(long digestHigh, long digestLow, boolean ahead)
    {
        hitRecorder.record(new Digest128(digestHigh, digestLow), ahead);
    }

    /**
     * Records a client's request for the block, for {@link CacheSizer#prediction} only.
     *
     * @param length bytes of the block
     * @param ahead whether the block was prefetched for this read
     */
    public void recordRequest(BlockKey key, int length, boolean ahead)
    {
        Digest128 digest = key.digest();
        sizer.request(digest.high(), digest.low(), length, () -> !ahead && has(digest));
    }

    private boolean has(Digest128 digest)
    {
        lock.lock();
        try {
            return ram.find(digest).isPresent() || ssd.find(digest).isPresent();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Clears the prefetched mark of a block ({@link Fill#commitAhead}), because a read used it or none will.
     */
    public void clearPrefetched(Digest128 digest)
    {
        lock.lock();
        try {
            if (!tiers.isClosed()) {
                ram.find(digest).ifPresent(frame -> ram.setFetchedAhead(frame, false));
            }
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Publishes the rings to the clients on this host.
     *
     * @param newestFirst only the first sixteen are published
     */
    public void publishRings(List<PublishedRing> newestFirst)
    {
        lock.lock();
        try {
            if (!tiers.isClosed()) {
                parts.memoryFile().writer().publishRings(newestFirst);
            }
        }
        finally {
            lock.unlock();
        }
    }

    public StoreGauges gauges()
    {
        lock.lock();
        try {
            return new StoreGauges(
                    ram.capacityBytes(),
                    ram.allocatedBytes(),
                    ram.usedBytes(),
                    ram.blocks(),
                    ram.guestBytes(),
                    classes.pinnedBytes(),
                    classes.maxPinnedBytes(),
                    classes.rejectedPins(),
                    ssd.capacityBytes(),
                    ssd.usedBytes(),
                    ssd.blocks(),
                    files.size(),
                    ssd.restoredBlocks(),
                    ram.evictions(),
                    ssd.evictions(),
                    ram.expirations() + ssd.expirations(),
                    ram.damagedBlocks() + ssd.corruptBlocks(),
                    fills.refused() + loads.refused(),
                    Maps.toMap(EnumSet.allOf(SsdRefusalCause.class), ssd::refusedWrites),
                    ssd.directoriesOut(),
                    Maps.toMap(EnumSet.allOf(SsdErrorCause.class), ssd::errors));
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Returns one sentence about the current problem and its fix; empty when the store is healthy.
     */
    public Optional<String> problem()
    {
        lock.lock();
        try {
            return ssd.problem().or(parts.memoryFile()::problem);
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Waits until all blocks found on SSD are restored. The store is fully usable meanwhile.
     *
     * @return false on timeout
     */
    public boolean awaitRestored(Duration timeout)
    {
        return ssd.awaitRestored(timeout);
    }

    /**
     * Returns the recovery results of opening the store.
     */
    public List<RecoveryOutcome> recovery()
    {
        return parts.recovery();
    }

    /**
     * Writes the queued blocks and a checkpoint, frees the RAM and removes the shared-memory file. Pinned blocks and
     * open fills can still be closed afterwards, but their buffers no longer hold the block.
     */
    @Override
    public void close()
    {
        if (!tiers.close()) {
            return;
        }
        upkeep.end();
        quotaKeeper.write();
        parts.close();
    }

    /**
     * Ends like a killed process, which keeps its files but frees its locks. For tests.
     */
    void abandon()
    {
        tiers.close();
        upkeep.end();
        parts.abandon();
    }

    /**
     * For tests.
     */
    RamTier ram()
    {
        return ram;
    }

    /**
     * For tests.
     */
    Tiers tiers()
    {
        return tiers;
    }

    /**
     * For tests.
     */
    SsdTier ssd()
    {
        return ssd;
    }

    /**
     * Records the buffered hits without waiting for the periodic run. For tests.
     */
    void drainHits()
    {
        hitRecorder.drain();
    }

    /**
     * Removes expired blocks without waiting for the periodic run. For tests.
     */
    void removeExpired()
    {
        upkeep.removeExpired();
    }

    /**
     * For tests.
     */
    void checkInvariants()
    {
        lock.lock();
        try {
            ram.checkInvariants();
            ssd.checkInvariants();
        }
        finally {
            lock.unlock();
        }
    }
}
