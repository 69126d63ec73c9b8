package io.cachedhive.store;

import com.google.common.collect.Maps;
import com.google.errorprone.annotations.concurrent.GuardedBy;
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
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ram.Frame;
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
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * The blocks of one host: a RAM tier in shared memory and an SSD tier below it. Safe for use by any number of threads.
 *
 * <p>What it does is done by its parts: {@link BlockClasses} and {@link PinKeeper} (classes and pins), {@link QuotaKeeper} (quotas of tables), {@link RamHits},
 * {@link BlockLoads} and {@link BlockFills} (blocks that are in RAM, come from SSD, come from outside), {@link SsdOffers} (blocks on their way to SSD), {@link Invalidator} (what
 * is dropped or flushed), {@link StoreInspector} (what there is), {@link Upkeep} (what is repeated) and {@link StoreParts} (how it opens and closes). They work on {@link Tiers},
 * under its one lock.
 */
public final class BlockStore
        implements AutoCloseable
{
    private static final long MAX_QUEUED_BYTES = 64 << 20;
    // a store that is not large is as warm when it opens as it was; for a large one nobody waits longer than this takes
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
    private final BlockLoads loads;
    private final BlockFills fills;
    private final PinKeeper pinKeeper;
    private final QuotaKeeper quotaKeeper;
    private final StoreInspector inspector;
    private final Invalidator invalidator;
    private final Upkeep upkeep;

    // the lock guards their state, unless their methods say otherwise
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
        this.invalidator = new Invalidator(tiers, parts.state(), parts.workerId());
        this.loads = new BlockLoads(tiers, hits, invalidator);
        this.pinKeeper = new PinKeeper(tiers, classes, offers);
        this.quotaKeeper = new QuotaKeeper(tiers, parts.quotas(), parts.state(), clock);
        this.inspector = new StoreInspector(tiers, clock);
        this.fills = new BlockFills(tiers, classes, offers, hits, invalidator);
        this.sizer = new CacheSizer(tiers.capacityBytes(), tiers.blockSizeBytes(), tiers.isAboveSsd(), clock);
        this.upkeep = new Upkeep(tiers, parts.memoryFile(), sizer, inspector, quotaKeeper, pinKeeper, environment);
    }

    /**
     * Restores what the last run left on SSD (blocks of a large store go on coming while it is in use), gives back the memory that it left in RAM, and allocates this run's.
     *
     * @throws StoreException if the configuration cannot be had on this machine, or another worker uses the same directory
     */
    public static BlockStore open(StoreConfig config, StoreEnvironment environment)
            throws StoreException
    {
        return open(config, environment, BLOCKS_RESTORED_FIRST);
    }

    /**
     * @param blocksRestoredFirst of each SSD directory; the rest is restored while the store is in use
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
        parts.memoryFile().useHugePages(environment.threads());
        upkeep.start();
    }

    /**
     * The files that are pinned by name.
     */
    public PinKeeper pins()
    {
        return pinKeeper;
    }

    /**
     * The quotas of tables.
     */
    public QuotaKeeper quotas()
    {
        return quotaKeeper;
    }

    /**
     * Drops and flushes of files.
     */
    public Invalidator flushes()
    {
        return invalidator;
    }

    /**
     * The files and blocks that are in the store.
     */
    public StoreInspector contents()
    {
        return inspector;
    }

    /**
     * The hit rates that stores of other capacities would have had.
     */
    public CacheSizer sizer()
    {
        return sizer;
    }

    /**
     * The format versions of the SSD directories.
     */
    public DirectoryFormats ssdFormats()
    {
        return ssd.formats();
    }

    public CacheWorkerId workerId()
    {
        return parts.workerId();
    }

    /**
     * Names this run.
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
     * The shared-memory file, absolute.
     */
    public Path memoryFile()
    {
        return parts.memoryFile().path();
    }

    /**
     * What is known of a file version; empty if it was never bound (guests do not bind it), was dropped, or lost its last block long ago.
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
     * Binds a file version to the ETag that the first answer of the origin carried. Persisted with the first block on SSD.
     *
     * @return whether the file version is bound to this ETag now: false if somebody else bound it to another, so that it has to be dropped
     */
    public boolean bind(FileVersion version, Optional<String> etag, boolean provisional, String table)
    {
        FileVersionId id = version.id();
        FileMetadata metadata = new FileMetadata(version, etag, provisional, table);
        lock.lock();
        try {
            Optional<StoredFile> bound = files.get(id);
            if (bound.isPresent() && files.isForGuests(bound.get())) {
                // what the origin says counts more than what another worker said, and the ETag itself is known now
                dropGuestsLocked(bound.get());
                bound = Optional.empty();
            }
            if (bound.isPresent()) {
                return bound.get().etagDigest() == metadata.etagDigest();
            }
            files.add(id, metadata);
            return true;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * The file version is no longer provisional. Nothing happens if it is not bound.
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

    @GuardedBy("lock")
    private void dropGuestsLocked(StoredFile file)
    {
        files.drop(file);
        // on SSD there are none
        ram.drop(file);
    }

    /**
     * Whether any block can be kept as a guest.
     */
    public boolean keepsGuests()
    {
        return ram.maxGuestBytes() >= blockSizeBytes();
    }

    /**
     * Forgets the guests of a file version of which there is nothing else: nobody on this host can say which state of the file they are of.
     */
    public void dropGuests(FileVersionId id)
    {
        lock.lock();
        try {
            files.get(id).filter(files::isForGuests).ifPresent(this::dropGuestsLocked);
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Keeps a block of another worker's in RAM for as long as there is room that is wanted for nothing better, if the file is not known to be in another state.
     *
     * @param etagDigest as the worker that had the block told it
     * @param checksum CRC32C of the bytes as they left that worker
     * @return whether it is kept now, or was there already
     * @throws IllegalArgumentException if the file has no such block, or one of another length
     */
    public boolean offerGuest(FileVersion version, int block, String table, long etagDigest, int checksum, ByteBuffer bytes)
    {
        return offerGuest(version, block, table, etagDigest, checksum, bytes, invalidator.count());
    }

    /**
     * Likewise, of a block that was judged at a certain time.
     *
     * @param flushesBefore as {@link Invalidator#count} was before that: if there was one since, the block is not kept, whatever was flushed
     */
    public boolean offerGuest(FileVersion version, int block, String table, long etagDigest, int checksum, ByteBuffer bytes, long flushesBefore)
    {
        return fills.offerGuest(version, block, table, etagDigest, checksum, bytes, terms(Optional.of(BlockClass.GUEST), OptionalLong.empty()), flushesBefore);
    }

    /**
     * Whether so much waits to be written to SSD that much more would not be.
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
     * The block, if it is in RAM now. Counts as a use of it.
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
     * The block from RAM, or from SSD into a frame, verified. Blocks on I/O (outside of Java: give it a platform thread); calls for the
     * same block share one read.
     *
     * @return empty if the block is in neither tier, or did not verify (then it was dropped and counted), or no frame could be had
     */
    public Optional<PinnedBlock> load(BlockKey key)
    {
        return loads.load(key.digest());
    }

    /**
     * A frame to write a block into, which is kept as one of class normal for {@code cache.ttl}. The file has to be bound before.
     *
     * @param length bytes of the block, as {@link FileVersion#blockLength} tells them
     * @param etagDigest of the answer that the bytes come from
     * @return empty if no frame can be had now, or the file is not bound to this ETag; never waits
     * @throws IllegalArgumentException if the file has no such block, or one of another length
     */
    public Optional<Fill> beginFill(BlockKey key, int length, long etagDigest)
    {
        return beginFill(key, length, etagDigest, terms(Optional.empty(), OptionalLong.empty()));
    }

    /**
     * Likewise, on other terms.
     */
    public Optional<Fill> beginFill(BlockKey key, int length, long etagDigest, BlockTerms terms)
    {
        return beginFill(key, length, etagDigest, terms, invalidator.count());
    }

    /**
     * Likewise, of bytes that were asked for at a certain time.
     *
     * @param flushesBefore as {@link Invalidator#count} was then: if there was one since, the block is not kept, whatever was flushed
     */
    public Optional<Fill> beginFill(BlockKey key, int length, long etagDigest, BlockTerms terms, long flushesBefore)
    {
        return fills.begin(key, length, etagDigest, terms, flushesBefore).map(Fill.class::cast);
    }

    /**
     * The terms of a block that is filled now.
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
     * Changes the class of a block in both tiers, durably as far as it is on SSD; its expiry stays. Nothing happens to guests, or if there is no such block. A block of a file
     * that is pinned by name stays pinned, and one that finds no room among the pinned ones is of class high.
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
     * A client read the block from shared memory.
     */
    public void touch(long digestHigh, long digestLow)
    {
        touch(digestHigh, digestLow, false);
    }

    /**
     * Likewise.
     *
     * @param ahead whether the block was fetched ahead of this read, which has not been asked for before
     */
    public void touch(long digestHigh, long digestLow, boolean ahead)
    {
        Digest128 digest = new Digest128(digestHigh, digestLow);
        int length = tiers.blockSizeBytes();
        boolean held = false;
        lock.lock();
        try {
            if (tiers.isClosed()) {
                return;
            }
            Optional<Frame> frame = ram.find(digest);
            if (frame.isPresent()) {
                ram.use(frame.get());
                offers.request(frame.get(), false);
                if (frame.get().isGuest()) {
                    return;
                }
                length = frame.get().length();
                held = true;
            }
            else {
                ssd.use(digest);
            }
        }
        finally {
            lock.unlock();
        }
        boolean wasHeld = held && !ahead;
        sizer.request(digestHigh, digestLow, length, () -> wasHeld);
    }

    /**
     * A client asks for the block; what is done about it is another matter. For {@link CacheSizer#prediction} only.
     *
     * @param length bytes of the block
     * @param ahead whether it was fetched ahead of this read
     */
    public void requested(BlockKey key, int length, boolean ahead)
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
     * A block that was fetched ahead ({@link Fill#commitAhead}) was asked for, or nobody will ask: from now on it is like any other.
     */
    public void asked(Digest128 digest)
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
     * Shows the rings to the clients on this host.
     *
     * @param newestFirst those beyond the sixteenth are left out
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
                    ssd.corruptBlocks(),
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
     * One sentence with its remedy while a part of the store is out of service; empty when it is well.
     */
    public Optional<String> problem()
    {
        lock.lock();
        try {
            return ssd.problem();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Waits until all blocks that were found on SSD are restored; the store is in full use meanwhile.
     *
     * @return whether they are
     */
    public boolean awaitRestored(Duration timeout)
    {
        return ssd.awaitRestored(timeout);
    }

    /**
     * What was found when the store was opened.
     */
    public List<RecoveryOutcome> recovery()
    {
        return parts.recovery();
    }

    /**
     * Writes what is queued and a checkpoint, gives the RAM back and removes the shared-memory file. Pinned blocks and fills that are still
     * open can be closed afterwards, but what they show is not the block's bytes any more.
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
     * For tests: ends like a killed process, which leaves its files behind and its locks free.
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
    SsdTier ssd()
    {
        return ssd;
    }

    /**
     * For tests, which do not wait for it.
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
