package io.cachedhive.store;

import com.google.common.base.Throwables;
import com.google.common.collect.Maps;
import com.google.common.io.Closer;
import com.google.common.util.concurrent.Uninterruptibles;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.file.StoredTable;
import io.cachedhive.store.quota.TableQuotas;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.MemoryFile;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.sizing.CacheSizer;
import io.cachedhive.store.ssd.Courtesy;
import io.cachedhive.store.ssd.SsdBlock;
import io.cachedhive.store.ssd.SsdCandidates;
import io.cachedhive.store.ssd.SsdTier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * The blocks of one host: a RAM tier in shared memory and an SSD tier below it. Safe for use by any number of threads.
 *
 * <p>One lock guards files, frames and the SSD index, held for microseconds: nothing is read, written, copied or summed up under it.
 */
public final class BlockStore
        implements AutoCloseable
{
    private static final Logger log = Logger.get(BlockStore.class);

    private static final long HEARTBEAT_MILLIS = 200;
    private static final int EXPIRED_AT_ONCE = 256;
    private static final int ENTRIES_AT_ONCE = 256;
    // only a few columns of each are looked at
    private static final int ORDINALS_AT_ONCE = 4096;
    private static final long CAPACITY_MILLIS = 5_000;
    private static final long PINS_MILLIS = 1_000;
    private static final long FILE_ORDER_NANOS = 60_000_000_000L;
    private static final long QUOTA_INTERVAL_MILLIS = 200;
    private static final long QUOTA_END_MILLIS = 5_000;
    private static final long QUOTA_RETRY_NANOS = 10_000_000_000L;
    private static final int EVICTED_AT_ONCE = 64;
    private static final long MAX_QUEUED_BYTES = 64 << 20;
    // frames rest 100 ms: by then there is one, unless everything is pinned
    private static final long FRAME_WAIT_NANOS = 300_000_000;
    private static final long FRAME_PAUSE_NANOS = 2_000_000;
    private static final int LOAD_ATTEMPTS = 3;
    private static final Duration FLUSH_WAIT = Duration.ofMinutes(1);
    private static final int FRAMES_WIPED_AT_ONCE = 16;
    // a store that is not large is as warm when it opens as it was; for a large one nobody waits longer than this takes
    private static final long BLOCKS_RESTORED_FIRST = 1 << 18;
    private static final ThreadLocal<byte[]> SCRATCH = ThreadLocal.withInitial(() -> new byte[64 << 10]);

    private final ReentrantLock lock;
    private final StateDirectory state;
    private final CacheWorkerId workerId;
    private final Digest128 instance;
    private final int blockSizeBytes;
    private final Duration ttl;
    private final MemoryFile memoryFile;
    private final List<RecoveryOutcome> recovery;
    private final StoreClock clock;
    private final CacheSizer sizer;
    private final boolean aboveSsd;
    private final double pinnedMaxShare;
    private final ScheduledExecutorService heartbeat;
    // writes to the state directory, which may take long
    private final ScheduledExecutorService quotaKeeper;
    private final Closer resources;

    // guarded by the lock
    private final FileTable files;
    private final RamTier ram;
    private final SsdTier ssd;
    private final TableQuotas quotas;
    private volatile boolean quotasUnwritable;
    private volatile long nextQuotaWriteNanos;
    private final Map<Digest128, CompletableFuture<Boolean>> loads = new HashMap<>();
    private long refusedFills;
    private long refusedPins;
    // whether there are blocks of files that are pinned by name which found no room among the pinned ones
    private boolean pinsWait;
    // which files are pinned by name; nobody's, if empty
    private volatile Optional<Predicate<FileVersion>> pins = Optional.empty();
    // of a listing that is under way; null without
    private volatile FileOrder fileOrder;
    private volatile long flushes;
    private boolean closed;

    private BlockStore(
            StateDirectory state,
            CacheWorkerId workerId,
            Digest128 instance,
            int blockSizeBytes,
            Duration ttl,
            ReentrantLock lock,
            FileTable files,
            SsdTier ssd,
            TableQuotas quotas,
            MemoryFile memoryFile,
            double guestMaxShare,
            double pinnedMaxShare,
            boolean aboveSsd,
            List<RecoveryOutcome> recovery,
            StoreEnvironment environment,
            Closer resources)
    {
        this.state = requireNonNull(state, "state is null");
        this.workerId = requireNonNull(workerId, "workerId is null");
        this.instance = requireNonNull(instance, "instance is null");
        this.blockSizeBytes = blockSizeBytes;
        this.ttl = requireNonNull(ttl, "ttl is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.files = requireNonNull(files, "files is null");
        this.ssd = requireNonNull(ssd, "ssd is null");
        this.quotas = requireNonNull(quotas, "quotas is null");
        this.memoryFile = requireNonNull(memoryFile, "memoryFile is null");
        this.recovery = List.copyOf(recovery);
        this.clock = environment.clock();
        this.resources = requireNonNull(resources, "resources is null");
        this.aboveSsd = aboveSsd;
        this.pinnedMaxShare = pinnedMaxShare;
        this.ram = new RamTier(memoryFile, files, clock, guestMaxShare, aboveSsd);
        // clients compare generations of one file only; that they differ between files too costs nothing
        ram.setFirstGeneration(Math.max(0, clock.currentTimeMillis()) << 20);
        this.sizer = new CacheSizer(capacityLocked(), blockSizeBytes, aboveSsd, clock);
        this.heartbeat = repeater(environment);
        this.quotaKeeper = repeater(environment);
    }

    private static ScheduledExecutorService repeater(StoreEnvironment environment)
    {
        ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, environment.threads());
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
        return executor;
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
        MemoryLayout layout;
        try {
            layout = MemoryLayout.forFileSize(config.ramMaxSizeBytes(), config.blockSizeBytes());
        }
        catch (IllegalArgumentException e) {
            throw new StoreException("cache.ram.max-size (%s) and cache.block-size (%s) do not go together: %s".formatted(
                    ByteSize.format(config.ramMaxSizeBytes()),
                    ByteSize.format(config.blockSizeBytes()),
                    e.getMessage()),
                    e);
        }
        if (!Files.isDirectory(config.ramDirectory())) {
            throw new StoreException("cache.ram.directory %s is not a directory: make it, or name one on tmpfs".formatted(config.ramDirectory()));
        }
        Closer resources = Closer.create();
        SsdTier ssd = null;
        boolean success = false;
        try {
            StateDirectory state = resources.register(StateDirectory.open(config.stateDirectory(), environment));
            SsdCandidates candidates = resources.register(
                    SsdCandidates.look(config.ssdDirectories(), config.blockSizeBytes(), environment.disk(), state.ssdMounts(), environment.ssdFormat()));
            CacheWorkerId workerId = workerId(state, candidates);
            List<RecoveryOutcome> recovery = new ArrayList<>(MemoryFile.reclaim(config.ramDirectory(), workerId));
            long keptRun = state.lastRun(workerId);

            Digest128 instance = new Digest128(environment.random().nextLong(), environment.random().nextLong());
            // memory takes long to be had, if there is much
            FutureTask<MemoryFile> allocation = new FutureTask<>(() -> MemoryFile.create(config.ramDirectory(), layout, instance, workerId, config.sharedGroup()));
            environment.threads().newThread(allocation).start();
            resources.register(() -> closeAllocated(allocation));

            ReentrantLock lock = new ReentrantLock();
            FileTable files = new FileTable();
            // before there are blocks
            TableQuotas quotas = new TableQuotas(files, state.tableQuotas());
            ssd = SsdTier.open(
                    candidates,
                    workerId,
                    keptRun,
                    config.blockSizeBytes(),
                    config.checkpointInterval(),
                    blocksRestoredFirst,
                    files,
                    BlockTerms.until(BlockClass.NORMAL, environment.clock().currentTimeMillis() + config.ttl().toMillis()),
                    lock,
                    environment);
            // after the directories: a crash in between must not make them look as if they had missed a run
            state.keepRun(workerId, Math.max(keptRun, candidates.lastRun(workerId)) + 1);
            state.keepSsdMounts(ssd.mounts());
            recovery.addAll(ssd.recovery());

            MemoryFile memoryFile = await(allocation);
            BlockStore store = new BlockStore(
                    state,
                    workerId,
                    instance,
                    config.blockSizeBytes(),
                    config.ttl(),
                    lock,
                    files,
                    ssd,
                    quotas,
                    memoryFile,
                    config.guestMaxShare(),
                    config.pinnedMaxShare(),
                    !config.ssdDirectories().isEmpty(),
                    recovery,
                    environment,
                    resources);
            for (RecoveryOutcome outcome : recovery) {
                if (outcome.finding().isDoubt()) {
                    log.warn("Recovery: %s", outcome);
                }
                else {
                    log.info("Recovery: %s", outcome);
                }
            }
            store.start(environment);
            success = true;
            return store;
        }
        finally {
            if (!success) {
                if (ssd != null) {
                    ssd.close();
                }
                closeQuietly(resources);
            }
        }
    }

    private static MemoryFile await(FutureTask<MemoryFile> allocation)
            throws StoreException
    {
        try {
            return Uninterruptibles.getUninterruptibly(allocation);
        }
        catch (ExecutionException e) {
            Throwables.throwIfInstanceOf(e.getCause(), StoreException.class);
            Throwables.throwIfUnchecked(e.getCause());
            throw new IllegalStateException(e);
        }
    }

    private static void closeAllocated(FutureTask<MemoryFile> allocation)
    {
        try {
            Uninterruptibles.getUninterruptibly(allocation).close();
        }
        catch (ExecutionException e) {
            log.debug("There is no memory to give back: %s", e.getMessage());
        }
    }

    /**
     * The superblock's: whoever has the SSD is the worker. Without one, or without one that can be read, that of the state directory.
     */
    private static CacheWorkerId workerId(StateDirectory state, SsdCandidates candidates)
            throws StoreException
    {
        Optional<CacheWorkerId> found = candidates.workerId();
        if (found.isEmpty()) {
            found = state.findWorkerId();
            if (found.isPresent()) {
                return found.get();
            }
        }
        CacheWorkerId workerId = found.orElseGet(state::newWorkerId);
        state.keepWorkerId(workerId);
        return workerId;
    }

    private void start(StoreEnvironment environment)
    {
        ssd.start(Math.min(MAX_QUEUED_BYTES, ram.frameBytes() / 4), this::offerToSsdAgain, environment);
        beat();
        memoryFile.writer().setState(MemoryState.LIVE);
        memoryFile.useHugePages(environment.threads());
        heartbeat.scheduleAtFixedRate(this::beat, HEARTBEAT_MILLIS, HEARTBEAT_MILLIS, MILLISECONDS);
        heartbeat.scheduleWithFixedDelay(this::removeExpired, HEARTBEAT_MILLIS, HEARTBEAT_MILLIS, MILLISECONDS);
        heartbeat.scheduleWithFixedDelay(this::forgetFileOrder, CAPACITY_MILLIS, CAPACITY_MILLIS, MILLISECONDS);
        heartbeat.scheduleWithFixedDelay(this::tellCapacity, CAPACITY_MILLIS, CAPACITY_MILLIS, MILLISECONDS);
        quotaKeeper.scheduleWithFixedDelay(this::keepQuotas, QUOTA_INTERVAL_MILLIS, QUOTA_INTERVAL_MILLIS, MILLISECONDS);
        quotaKeeper.scheduleWithFixedDelay(this::keepPins, PINS_MILLIS, PINS_MILLIS, MILLISECONDS);
    }

    private void beat()
    {
        memoryFile.writer().setHeartbeat(clock.currentTimeMillis());
    }

    private long capacityLocked()
    {
        return ssd.capacityBytes() > 0 ? ssd.capacityBytes() : ram.capacityBytes();
    }

    /**
     * Directories of the SSD tier come and go.
     */
    private void tellCapacity()
    {
        long bytes;
        lock.lock();
        try {
            bytes = capacityLocked();
        }
        finally {
            lock.unlock();
        }
        sizer.setCapacity(bytes);
    }

    /**
     * Clients read shared memory without asking: what is expired has to go from there.
     */
    void removeExpired()
    {
        boolean more = true;
        while (more) {
            lock.lock();
            try {
                more = !closed && ram.removeExpired(EXPIRED_AT_ONCE);
            }
            catch (RuntimeException | Error e) {
                // an exception would end the repetition
                log.error(e, "Blocks that are expired could not be removed");
                return;
            }
            finally {
                lock.unlock();
            }
        }
    }

    /**
     * What is left to do after a quota changed: evicts what tables have beyond theirs, and writes the quotas down.
     */
    void keepQuotas()
    {
        try {
            orderTables();
            shrinkTables();
            if (!quotasUnwritable || clock.nanoTime() - nextQuotaWriteNanos >= 0) {
                writeQuotas();
            }
        }
        catch (RuntimeException | Error e) {
            // an exception would end the repetition
            log.error(e, "Quotas of tables could not be kept");
        }
    }

    private void orderTables()
    {
        boolean wanted;
        int directories;
        lock.lock();
        try {
            wanted = !closed && quotas.takeUnordered();
            directories = ssd.directoryCount();
        }
        finally {
            lock.unlock();
        }
        if (wanted) {
            collect(ram::order);
            for (int i = 0; i < directories; i++) {
                int directory = i;
                collect((first, end) -> ssd.order(directory, first, end));
            }
        }
    }

    private void shrinkTables()
    {
        boolean more = true;
        while (more) {
            more = false;
            List<StoredTable> tables;
            lock.lock();
            try {
                if (closed) {
                    return;
                }
                more = ram.freeLeft();
                tables = quotas.tooLarge();
            }
            finally {
                lock.unlock();
            }
            for (StoredTable table : tables) {
                lock.lock();
                try {
                    more |= !closed && (ram.shrink(table, EVICTED_AT_ONCE) | ssd.shrink(table, EVICTED_AT_ONCE));
                }
                finally {
                    lock.unlock();
                }
                Courtesy.giveWay(lock);
            }
        }
    }

    private void writeQuotas()
    {
        Optional<Map<String, Long>> changed;
        lock.lock();
        try {
            changed = quotas.takeChanged();
        }
        finally {
            lock.unlock();
        }
        if (changed.isEmpty()) {
            return;
        }
        try {
            state.keepTableQuotas(changed.get());
            quotasUnwritable = false;
        }
        catch (IOException e) {
            if (!quotasUnwritable) {
                log.warn("Quotas of tables cannot be written to %s (%s): after a restart they come again when the tables are read", state.quotasFile(), e.getMessage());
            }
            quotasUnwritable = true;
            nextQuotaWriteNanos = clock.nanoTime() + QUOTA_RETRY_NANOS;
            lock.lock();
            try {
                quotas.setChanged();
            }
            finally {
                lock.unlock();
            }
        }
    }

    /**
     * Says which files are pinned by name: their blocks are of class pinned, those that are there as those that are filled from now on, whatever reads say, as far as there is
     * room for pinned blocks. Guests stay guests, and expiries stay. Blocks the calling thread for as long as it takes to look at all files.
     *
     * @param pinned called under the lock
     * @param changed files for which the answer may be another one than before: of those that are not pinned any more, pinned blocks are normal again; called under the lock
     * @return false if some blocks stay as they were, since the journal of an SSD directory is full: call it again
     */
    public boolean setPins(Predicate<FileVersion> pinned, Predicate<FileVersion> changed)
    {
        setPins(pinned);
        return applyPins(changed);
    }

    /**
     * Likewise, for blocks that are filled from now on.
     */
    public void setPins(Predicate<FileVersion> pinned)
    {
        pins = Optional.of(pinned);
    }

    private boolean applyPins(Predicate<FileVersion> changed)
    {
        boolean complete = true;
        for (StoredFile file : filesWith(changed)) {
            complete &= applyPins(file);
            Courtesy.giveWay(lock);
        }
        return complete;
    }

    private List<StoredFile> filesWith(Predicate<FileVersion> wanted)
    {
        List<StoredFile> found = new ArrayList<>();
        collect((first, end) -> {
            int limit = files.ordinalLimit();
            for (int ordinal = first; ordinal < Math.min(end, limit); ordinal++) {
                files.find(ordinal).filter(file -> !files.isForGuests(file) && wanted.test(file.version())).ifPresent(found::add);
            }
            return end < limit;
        });
        return found;
    }

    private boolean applyPins(StoredFile file)
    {
        boolean complete = true;
        int end = 1;
        for (int first = 0; first < end; first += ENTRIES_AT_ONCE) {
            lock.lock();
            try {
                if (closed || file.isDropped() || (file.ramBlocks() == 0 && file.ssdBlocks() == 0)) {
                    return true;
                }
                end = file.version().blockCount(blockSizeBytes);
                boolean pinned = isPinnedByName(file);
                for (int block = first; block < Math.min(end, first + ENTRIES_AT_ONCE); block++) {
                    Digest128 digest = file.id().block(block).digest();
                    Optional<Frame> frame = ram.find(digest).filter(found -> !isGuest(found));
                    Optional<SsdBlock> onSsd = ssd.find(digest);
                    boolean wasPinned = frame.filter(found -> found.terms().blockClass() == BlockClass.PINNED).isPresent() ||
                            onSsd.filter(found -> found.terms().blockClass() == BlockClass.PINNED).isPresent();
                    if (pinned || wasPinned) {
                        complete &= setClassLocked(digest, pinned ? BlockClass.PINNED : BlockClass.NORMAL);
                    }
                    if (pinned && onSsd.isEmpty()) {
                        // what nobody thought worth being written before is to stay now
                        frame.ifPresent(found -> requestFromSsd(found, true));
                    }
                }
            }
            finally {
                lock.unlock();
            }
            Courtesy.giveWay(lock);
        }
        return complete;
    }

    private boolean isPinnedByName(StoredFile file)
    {
        return pins.filter(pinned -> pinned.test(file.version())).isPresent();
    }

    private long pinnedBytesLocked()
    {
        return aboveSsd ? ssd.pinnedBytes() : ram.pinnedBytes();
    }

    private long maxPinnedBytesLocked()
    {
        return (long) (pinnedMaxShare * (aboveSsd ? ssd.capacityBytes() : ram.frameBytes()));
    }

    private void refusePin(StoredFile file)
    {
        refusedPins++;
        pinsWait |= isPinnedByName(file);
    }

    /**
     * Gives pinned blocks up where there is room for fewer than there are, and pins some of those that waited where there is room for more.
     */
    void keepPins()
    {
        try {
            if (!ssd.awaitRestored(Duration.ZERO)) {
                return;
            }
            boolean tooMany;
            boolean again;
            lock.lock();
            try {
                tooMany = !closed && pinnedBytesLocked() > maxPinnedBytesLocked();
                // not for each block that leaves: all files are looked at
                long worthwhileBytes = Math.max(blockSizeBytes, maxPinnedBytesLocked() / 64);
                again = !closed && pinsWait && pinnedBytesLocked() + worthwhileBytes <= maxPinnedBytesLocked();
                if (again) {
                    pinsWait = false;
                }
            }
            finally {
                lock.unlock();
            }
            if (tooMany) {
                unpinExcess();
            }
            else if (again && !pins.map(this::applyPins).orElse(true)) {
                // the journal of a directory is full
                setPinsWait();
            }
        }
        catch (RuntimeException | Error e) {
            // an exception would end the repetition
            log.error(e, "Pinned blocks could not be kept within their share");
        }
    }

    private void setPinsWait()
    {
        lock.lock();
        try {
            pinsWait = true;
        }
        finally {
            lock.unlock();
        }
    }

    private void unpinExcess()
    {
        for (StoredFile file : filesWith(_ -> true)) {
            int end = 1;
            for (int first = 0; first < end; first += ENTRIES_AT_ONCE) {
                lock.lock();
                try {
                    if (closed || pinnedBytesLocked() <= maxPinnedBytesLocked()) {
                        return;
                    }
                    if (file.isDropped()) {
                        break;
                    }
                    end = file.version().blockCount(blockSizeBytes);
                    for (int block = first; block < Math.min(end, first + ENTRIES_AT_ONCE) && pinnedBytesLocked() > maxPinnedBytesLocked(); block++) {
                        Digest128 digest = file.id().block(block).digest();
                        if (keptClass(digest).filter(BlockClass.PINNED::equals).isPresent()) {
                            refusePin(file);
                            setClassLocked(digest, BlockClass.HIGH);
                        }
                    }
                }
                finally {
                    lock.unlock();
                }
                Courtesy.giveWay(lock);
            }
        }
    }

    /**
     * Of a block in the tier in which pinned blocks are kept.
     */
    private Optional<BlockClass> keptClass(Digest128 digest)
    {
        return aboveSsd ?
                ssd.find(digest).map(block -> block.terms().blockClass()) :
                ram.find(digest).map(frame -> frame.terms().blockClass());
    }

    /**
     * What there is of files, by what a function makes of them. Takes the lock for some of them at a time.
     *
     * @param keyOf empty for files that do not matter; called under the lock
     * @return without keys of which there is nothing
     */
    public <K> Map<K, PinUsage> pinUsage(Function<FileVersion, Optional<K>> keyOf)
    {
        Map<K, PinUsage> usage = new HashMap<>();
        for (StoredFile file : filesWith(version -> keyOf.apply(version).isPresent())) {
            cachedFile(file).ifPresent(cached -> keyOf.apply(cached.metadata().version())
                    .ifPresent(key -> usage.merge(key, new PinUsage(cached.cachedBytes(), cached.pinnedBytes()), PinUsage::add)));
            Courtesy.giveWay(lock);
        }
        return usage;
    }

    /**
     * How many bytes blocks of a table may have over all cache workers; this one's part is by its share of the ring, and counts for RAM and for SSD.
     * In force for what is filled from now on; what the table has beyond it leaves in small steps, most of it within a second, not from SSD while the journal is full.
     * Within a second it is kept for the next run, if the state directory can be written.
     *
     * @param table {@code schema.table}
     * @param bytes empty for no quota
     */
    public void setQuota(String table, OptionalLong bytes)
    {
        if (bytes.isPresent() && bytes.getAsLong() < 0) {
            throw new IllegalArgumentException("quota of table %s is negative: %s".formatted(table, bytes.getAsLong()));
        }
        if (quotas.isKnown(table, bytes)) {
            return;
        }
        lock.lock();
        try {
            if (!closed) {
                quotas.set(table, bytes);
            }
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * By how much of a table's quota belongs to this worker; 1 until it is said.
     *
     * @param share above 0 and at most 1
     */
    public void setRingShare(double share)
    {
        lock.lock();
        try {
            quotas.setRingShare(share);
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * The tables with quotas, in the order of their names.
     */
    public List<TableUsage> tableUsage()
    {
        List<TableUsage> usage;
        lock.lock();
        try {
            usage = quotas.usage();
        }
        finally {
            lock.unlock();
        }
        return usage.stream().sorted(Comparator.comparing(TableUsage::table)).toList();
    }

    public CacheWorkerId workerId()
    {
        return workerId;
    }

    /**
     * Names this run.
     */
    public Digest128 instance()
    {
        return instance;
    }

    public int blockSizeBytes()
    {
        return blockSizeBytes;
    }

    /**
     * The shared-memory file, absolute.
     */
    public Path memoryFile()
    {
        return memoryFile.path();
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
        FileVersionId id = version.id();
        BlockKey key = id.block(block);
        Digest128 digest = key.digest();
        int length = bytes.remaining();
        BlockTerms terms = terms(Optional.of(BlockClass.GUEST), OptionalLong.empty());
        Optional<Fill> fill;
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            Optional<StoredFile> known = files.get(id);
            if (known.isPresent() && known.get().etagDigest() != etagDigest) {
                return false;
            }
            if (ram.find(digest).isPresent()) {
                return true;
            }
            if (ssd.find(digest).isPresent()) {
                // a reader brings it into RAM from there
                return false;
            }
            if (known.isEmpty()) {
                files.addForGuests(id, version, table, etagDigest);
            }
            fill = beginFill(key, length, etagDigest, terms);
        }
        finally {
            lock.unlock();
        }
        if (fill.isEmpty()) {
            return false;
        }
        try (FrameFill guest = (FrameFill) fill.get()) {
            guest.buffer().put(0, bytes, bytes.position(), length);
            return guest.commitGuest(checksum);
        }
    }

    /**
     * Forgets a file version and its blocks in both tiers, and the fills of it that have begun; durable when it returns.
     *
     * @return whether it was known
     */
    public boolean dropFile(FileVersionId id)
    {
        Optional<StoredFile> dropped;
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            dropped = files.get(id);
            dropped.ifPresent(file -> {
                files.drop(file);
                ram.drop(file);
                ssd.drop(file);
            });
        }
        finally {
            lock.unlock();
        }
        dropped.ifPresent(ssd::removeDropped);
        // also if somebody else dropped it just now: it is durable when either returns
        if (!ssd.makeDropsDurable() && !ssd.outdate(run -> state.keepRun(workerId, run))) {
            log.error("A dropped file is still on SSD, and neither its directory nor another nor the state directory can be written: after a crash it may come back");
        }
        return dropped.isPresent();
    }

    /**
     * Forgets file versions and their blocks in both tiers, and the fills of them that have begun, and overwrites where the blocks were. When it returns, nobody finds them,
     * which is durable, and their bytes are neither in the shared-memory file nor in the slabs. What was evicted before, and whose place on SSD nobody has taken since, is not
     * looked for. Blocks the calling thread: until all that was found on SSD is restored, until who reads from the frames has done so, and for as long as the writing takes.
     *
     * @param covered whether a file version is to go; called under the lock
     */
    public FlushResult flush(Predicate<FileVersion> covered)
    {
        // what is not restored yet has its bytes in places that are not known yet
        if (!ssd.awaitRestored(FLUSH_WAIT)) {
            log.warn("Flushing before all blocks are restored");
        }
        List<StoredFile> dropped = new ArrayList<>();
        List<Frame> frames = new ArrayList<>();
        lock.lock();
        try {
            flushes++;
        }
        finally {
            lock.unlock();
        }
        collect((first, end) -> dropCovered(first, end, covered, dropped, frames));
        wipeFrames(frames);
        Optional<String> problem = ssd.wipeDropped(dropped);
        long deadline = System.nanoTime() + FLUSH_WAIT.toNanos();
        boolean ended = true;
        List<StoredFile> left = new ArrayList<>(dropped);
        left.removeIf(file -> !isKnown(file));
        while (!frames.isEmpty() || !left.isEmpty()) {
            ended = System.nanoTime() - deadline < 0 && !Thread.currentThread().isInterrupted();
            if (!ended) {
                break;
            }
            LockSupport.parkNanos(FRAME_PAUSE_NANOS);
            wipeFrames(frames);
            left.removeIf(file -> !isKnown(file));
        }
        // fills of what was dropped gave their frames back, and what left before for want of space may still be seen in frames that nobody needed since
        wipeFreeFrames();
        if (!ended) {
            problem = problem.or(() -> Optional.of("blocks that were flushed are still being read or filled, and were not overwritten: flush again"));
            giveBack(frames);
        }
        if (isClosed()) {
            // its disks may be away already, and that is no reason to mistrust them
            return new FlushResult(dropped.size(), false, Optional.of("the store was closed before all was overwritten"));
        }
        boolean durable = ssd.makeDropsDurable() || ssd.outdate(run -> state.keepRun(workerId, run));
        if (!durable) {
            problem = Optional.of("what was flushed is still on SSD, and neither its directory nor another nor the state directory can be written: after a crash it may come back");
        }
        return new FlushResult(dropped.size(), durable, problem);
    }

    /**
     * How many times something was flushed in this run.
     */
    public long flushes()
    {
        return flushes;
    }

    private boolean isClosed()
    {
        lock.lock();
        try {
            return closed;
        }
        finally {
            lock.unlock();
        }
    }

    private boolean isKnown(StoredFile file)
    {
        lock.lock();
        try {
            return file.isKnown();
        }
        finally {
            lock.unlock();
        }
    }

    private boolean dropCovered(int firstOrdinal, int endOrdinal, Predicate<FileVersion> covered, List<StoredFile> dropped, List<Frame> frames)
    {
        int limit = files.ordinalLimit();
        for (int ordinal = firstOrdinal; ordinal < Math.min(endOrdinal, limit); ordinal++) {
            Optional<StoredFile> file = files.find(ordinal).filter(candidate -> covered.test(candidate.version()));
            if (file.isPresent()) {
                files.drop(file.get());
                ram.take(file.get(), frames);
                ssd.drop(file.get());
                dropped.add(file.get());
            }
        }
        return endOrdinal < limit;
    }

    /**
     * Overwrites and gives back those of the taken frames that nobody else reads any more.
     */
    private void wipeFrames(List<Frame> frames)
    {
        List<Frame> alone = new ArrayList<>();
        lock.lock();
        try {
            frames.removeIf(frame -> ram.isTakenAlone(frame) && alone.add(frame));
        }
        finally {
            lock.unlock();
        }
        for (Frame frame : alone) {
            ram.wipe(frame);
            giveBack(List.of(frame));
        }
    }

    private void giveBack(List<Frame> frames)
    {
        lock.lock();
        try {
            frames.forEach(ram::giveBackTaken);
        }
        finally {
            lock.unlock();
        }
    }

    private void wipeFreeFrames()
    {
        boolean more = true;
        List<Frame> taken = new ArrayList<>();
        for (int first = 0; more; first += FRAMES_WIPED_AT_ONCE) {
            lock.lock();
            try {
                more = !closed && ram.takeFree(first, first + FRAMES_WIPED_AT_ONCE, taken);
            }
            finally {
                lock.unlock();
            }
            wipeFrames(taken);
            Courtesy.giveWay(lock);
        }
    }

    /**
     * Which of a range of blocks the store has, and on which terms. Is no use of them.
     *
     * @return empty if the file version is not known
     */
    public Optional<FileDescription> describe(FileVersionId id, int firstBlock, int blockCount)
    {
        Optional<FileMetadata> metadata = file(id);
        if (metadata.isEmpty()) {
            return Optional.empty();
        }
        Map<Integer, BlockTerms> blocks = new HashMap<>();
        int end = Math.addExact(firstBlock, blockCount);
        for (int first = firstBlock; first < end; first += ENTRIES_AT_ONCE) {
            lock.lock();
            try {
                for (int block = first; block < Math.min(end, first + ENTRIES_AT_ONCE); block++) {
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
        }
        return Optional.of(new FileDescription(metadata.get(), blocks));
    }

    /**
     * The file versions with blocks whose ids begin with these bits, in no order; those that come or go meanwhile may be in it or not. Takes the lock for some of them at a time.
     * Who lists all files asks for 0 bits first, and then for as many as it takes: all files are looked through once, and their order is kept for a minute.
     *
     * @param bits how many of the prefix count, 0 for all files
     * @return empty if there are more than so many
     */
    public Optional<List<CachedFile>> cachedFiles(int bits, long prefix, int maxCount)
    {
        FileOrder order = fileOrder;
        if (bits == 0 || order == null || clock.nanoTime() - order.madeNanos() > FILE_ORDER_NANOS) {
            // a listing begins, or goes on after a pause
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
                // the ordinal may be another file's by now
                long high = order.digestHigh(i);
                file = closed ? Optional.empty() : files.find(order.ordinal(i)).filter(found -> found.id().digest().high() == high);
            }
            finally {
                lock.unlock();
            }
            file.flatMap(this::cachedFile).ifPresent(cached::add);
            Courtesy.giveWay(lock);
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
                more = !closed && first + ORDINALS_AT_ONCE < files.ordinalLimit();
            }
            finally {
                lock.unlock();
            }
            Courtesy.giveWay(lock);
        }
        return order.build(clock.nanoTime());
    }

    /**
     * Nobody has gone on with a listing for long.
     */
    private void forgetFileOrder()
    {
        FileOrder order = fileOrder;
        if (order != null && clock.nanoTime() - order.madeNanos() > FILE_ORDER_NANOS) {
            fileOrder = null;
        }
    }

    private Optional<CachedFile> cachedFile(StoredFile file)
    {
        FileMetadata metadata = null;
        long ramBytes = 0;
        long ssdBytes = 0;
        long cachedBytes = 0;
        long pinnedBytes = 0;
        BlockClass bestClass = BlockClass.GUEST;
        long nextExpiry = BlockTerms.NEVER;
        int end = 1;
        for (int first = 0; first < end; first += ENTRIES_AT_ONCE) {
            lock.lock();
            try {
                if (closed || file.isDropped() || (file.ramBlocks() == 0 && file.ssdBlocks() == 0)) {
                    return Optional.empty();
                }
                if (metadata == null) {
                    metadata = file.metadata();
                    end = metadata.version().blockCount(blockSizeBytes);
                }
                for (int block = first; block < Math.min(end, first + ENTRIES_AT_ONCE); block++) {
                    Digest128 digest = file.id().block(block).digest();
                    Optional<BlockTerms> inRam = ram.find(digest).map(Frame::terms);
                    Optional<BlockTerms> onSsd = ssd.find(digest).map(SsdBlock::terms);
                    if (inRam.isPresent() || onSsd.isPresent()) {
                        int length = metadata.version().blockLength(block, blockSizeBytes);
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
        }
        return CachedFile.of(metadata, ramBytes, ssdBytes, cachedBytes, pinnedBytes, bestClass, nextExpiry);
    }

    /**
     * Blocks of this worker's own, those that are asked for most first, as far as is known. Takes the lock for a few of them at a time, so blocks that come or go
     * meanwhile may be in it or not; those of a large SSD take seconds.
     *
     * @param tier those in RAM, or those on SSD that are not in RAM
     * @param maxCount to be given
     */
    public List<BlockKey> hottestBlocks(BlockOrigin tier, int maxCount)
    {
        HotBlocks hottest = new HotBlocks(maxCount);
        switch (tier) {
            case RAM -> collect((first, end) -> ram.collect(first, end, hottest));
            case SSD -> {
                for (int i = 0; i < ssd.directoryCount(); i++) {
                    int directory = i;
                    collect((first, end) -> ssd.collect(directory, first, end, digest -> ram.find(digest).isPresent(), hottest));
                }
            }
        }
        return hottest.toList();
    }

    private void collect(EntryCollector collector)
    {
        boolean more = true;
        for (int first = 0; more; first += ENTRIES_AT_ONCE) {
            lock.lock();
            try {
                more = !closed && collector.collect(first, first + ENTRIES_AT_ONCE);
            }
            finally {
                lock.unlock();
            }
            Courtesy.giveWay(lock);
        }
    }

    private interface EntryCollector
    {
        /**
         * @return whether there are entries beyond
         */
        boolean collect(int first, int end);
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
            if (closed) {
                return Optional.empty();
            }
            return pinLocked(key.digest(), BlockOrigin.RAM);
        }
        finally {
            lock.unlock();
        }
    }

    private Optional<PinnedBlock> pinLocked(Digest128 digest, BlockOrigin tier)
    {
        return ram.find(digest).map(frame -> {
            ram.pin(frame);
            requestFromSsd(frame, false);
            return new Pin(frame, frame.file().etagDigest(), tier);
        });
    }

    /**
     * A block that is in RAM was asked for: if it is not on SSD, it may have become worth being written there.
     *
     * @param first whether it just came into the cache
     */
    private void requestFromSsd(Frame frame, boolean first)
    {
        BlockTerms terms = frame.terms();
        // guests are kept in RAM only
        if (!isGuest(frame) && ssd.request(frame.digest(), frame.file(), frame.length(), terms.blockClass(), first)) {
            offerToSsd(frame);
        }
    }

    private void offerToSsd(Frame frame)
    {
        ram.hold(frame);
        ssd.offer(new SsdTier.Write(
                frame.digest(),
                frame.file(),
                frame.length(),
                frame.checksum(),
                () -> termsOnSsd(frame),
                ram.payload(frame, frame.length()),
                () -> ram.unpin(frame)));
    }

    /**
     * Of a block that is about to be written: by now there may be no more room for pinned ones.
     */
    private BlockTerms termsOnSsd(Frame frame)
    {
        BlockTerms terms = frame.terms();
        if (terms.blockClass() != BlockClass.PINNED || ssd.pinnedBytes() + frame.length() <= maxPinnedBytesLocked()) {
            return terms;
        }
        if (!frame.holdsBlock()) {
            return new BlockTerms(BlockClass.HIGH, terms.expirySeconds());
        }
        refusePin(frame.file());
        ram.setClass(frame, BlockClass.HIGH);
        return frame.terms();
    }

    /**
     * A block that came while too many others waited to be written.
     *
     * @return whether it is still here
     */
    private boolean offerToSsdAgain(Digest128 digest)
    {
        Optional<Frame> frame = ram.find(digest).filter(found -> !isGuest(found));
        frame.ifPresent(this::offerToSsd);
        return frame.isPresent();
    }

    private static boolean isGuest(Frame frame)
    {
        return frame.terms().blockClass() == BlockClass.GUEST;
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
        Digest128 digest = key.digest();
        BlockOrigin tier = BlockOrigin.RAM;
        for (int attempt = 0; attempt < LOAD_ATTEMPTS; attempt++) {
            SsdBlock block = null;
            CompletableFuture<Boolean> load;
            lock.lock();
            try {
                if (closed) {
                    return Optional.empty();
                }
                Optional<PinnedBlock> pinned = pinLocked(digest, tier);
                if (pinned.isPresent()) {
                    return pinned;
                }
                load = loads.get(digest);
                if (load == null) {
                    Optional<SsdBlock> found = ssd.find(digest);
                    if (found.isEmpty()) {
                        return Optional.empty();
                    }
                    block = found.get();
                    ssd.use(digest);
                    load = new CompletableFuture<>();
                    loads.put(digest, load);
                }
            }
            finally {
                lock.unlock();
            }
            if (block != null) {
                return load(block, load);
            }
            // somebody else's read; what it finds is in a frame then
            tier = BlockOrigin.SSD;
            if (!await(load)) {
                return Optional.empty();
            }
        }
        return Optional.empty();
    }

    private Optional<PinnedBlock> load(SsdBlock block, CompletableFuture<Boolean> load)
    {
        boolean success = false;
        try {
            Optional<PinnedBlock> pinned = readIntoFrame(block);
            success = pinned.isPresent();
            return pinned;
        }
        finally {
            lock.lock();
            try {
                loads.remove(block.digest());
            }
            finally {
                lock.unlock();
            }
            load.complete(success);
        }
    }

    private static boolean await(CompletableFuture<Boolean> load)
    {
        try {
            return load.get();
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        catch (ExecutionException e) {
            throw new AssertionError("a load only ever completes with a value", e);
        }
    }

    /**
     * The SSD writes straight into the frame, which is shown to readers when it is verified.
     */
    private Optional<PinnedBlock> readIntoFrame(SsdBlock block)
    {
        Frame frame = null;
        long start = System.nanoTime();
        while (frame == null) {
            lock.lock();
            try {
                if (closed || !ssd.isStillThere(block)) {
                    return Optional.empty();
                }
                Optional<PinnedBlock> pinned = pinLocked(block.digest(), BlockOrigin.RAM);
                if (pinned.isPresent()) {
                    return pinned;
                }
                frame = ram.allocate(block.length(), block.terms(), block.file()).orElse(null);
                if (frame != null) {
                    files.addFills(block.file(), 1);
                }
                else if (System.nanoTime() - start > FRAME_WAIT_NANOS || Thread.currentThread().isInterrupted()) {
                    refusedFills++;
                    return Optional.empty();
                }
            }
            finally {
                lock.unlock();
            }
            if (frame == null) {
                LockSupport.parkNanos(FRAME_PAUSE_NANOS);
            }
        }
        OptionalInt checksum = OptionalInt.empty();
        try {
            ram.wipeBehind(frame, block.length());
            checksum = ssd.read(block, ram.payload(frame, block.length()), SCRATCH.get());
        }
        finally {
            if (checksum.isEmpty()) {
                release(frame, block.file());
            }
        }
        if (checksum.isEmpty()) {
            return Optional.empty();
        }
        lock.lock();
        try {
            if (closed || block.file().isDropped() || ram.find(block.digest()).isPresent()) {
                ram.release(frame);
                // a fill was faster
                return closed ? Optional.empty() : pinLocked(block.digest(), BlockOrigin.SSD);
            }
            ram.publish(frame, block.file(), block.digest(), block.length(), checksum.getAsInt());
            // it may be of another class since the reading began
            Optional<BlockClass> kept = ssd.find(block.digest()).map(found -> found.terms().blockClass());
            if (frame.holdsBlock() && kept.isPresent() && kept.get() != frame.terms().blockClass()) {
                ram.setClass(frame, kept.get());
            }
            return Optional.of(new Pin(frame, block.file().etagDigest(), BlockOrigin.SSD));
        }
        finally {
            files.addFills(block.file(), -1);
            lock.unlock();
        }
    }

    private void release(Frame frame, StoredFile file)
    {
        lock.lock();
        try {
            ram.release(frame);
            files.addFills(file, -1);
        }
        finally {
            lock.unlock();
        }
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
        return beginFill(key, length, etagDigest, terms, flushes());
    }

    /**
     * Likewise, of bytes that were asked for at a certain time.
     *
     * @param flushesBefore as {@link #flushes} were then: if there was one since, the block is not kept, whatever was flushed
     */
    public Optional<Fill> beginFill(BlockKey key, int length, long etagDigest, BlockTerms terms, long flushesBefore)
    {
        lock.lock();
        try {
            if (closed || flushes != flushesBefore) {
                return Optional.empty();
            }
            Optional<StoredFile> file = files.get(key.file());
            if (file.isEmpty() || file.get().etagDigest() != etagDigest) {
                return Optional.empty();
            }
            int expected = file.get().version().blockLength(key.index(), blockSizeBytes);
            if (length != expected) {
                throw new IllegalArgumentException("block %s of file %s has %s bytes, not %s".formatted(key.index(), key.file(), expected, length));
            }
            boolean pinned = terms.blockClass() != BlockClass.GUEST && isPinnedByName(file.get());
            Optional<Frame> frame = ram.allocate(length, pinned ? terms.withClass(BlockClass.PINNED) : terms, file.get());
            if (frame.isEmpty()) {
                refusedFills++;
                return Optional.empty();
            }
            files.addFills(file.get(), 1);
            return Optional.of(new FrameFill(key.digest(), file.get(), frame.get(), length));
        }
        finally {
            lock.unlock();
        }
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
            if (!closed) {
                boolean pinned = blockClass != BlockClass.PINNED && pins.isPresent() && fileOf(digest).filter(this::isPinnedByName).isPresent();
                setClassLocked(digest, pinned ? BlockClass.PINNED : blockClass);
            }
        }
        finally {
            lock.unlock();
        }
    }

    private Optional<StoredFile> fileOf(Digest128 digest)
    {
        return ram.find(digest).map(Frame::file).or(() -> ssd.find(digest).map(SsdBlock::file));
    }

    /**
     * @return false if the block stays as it was on SSD, since the journal is full
     */
    private boolean setClassLocked(Digest128 digest, BlockClass blockClass)
    {
        Optional<Frame> frame = ram.find(digest).filter(found -> !isGuest(found));
        Optional<SsdBlock> onSsd = ssd.find(digest);
        Optional<BlockClass> kept = aboveSsd ? onSsd.map(block -> block.terms().blockClass()) : frame.map(found -> found.terms().blockClass());
        int length = onSsd.map(SsdBlock::length).or(() -> frame.map(Frame::length)).orElse(0);
        BlockClass granted = blockClass;
        if (blockClass == BlockClass.PINNED && kept.filter(before -> before != BlockClass.PINNED).isPresent() && pinnedBytesLocked() + length > maxPinnedBytesLocked()) {
            granted = BlockClass.HIGH;
            if (kept.get() != BlockClass.HIGH) {
                refusedPins++;
            }
            pinsWait |= onSsd.map(SsdBlock::file).or(() -> frame.map(Frame::file)).filter(this::isPinnedByName).isPresent();
        }
        if (frame.isPresent() && frame.get().terms().blockClass() != granted) {
            ram.setClass(frame.get(), granted);
        }
        ssd.setClass(digest, granted);
        BlockClass wanted = granted;
        return ssd.find(digest).filter(block -> block.terms().blockClass() != wanted).isEmpty();
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
        int length = blockSizeBytes;
        boolean held = false;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            Optional<Frame> frame = ram.find(digest);
            if (frame.isPresent()) {
                ram.use(frame.get());
                requestFromSsd(frame.get(), false);
                if (isGuest(frame.get())) {
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
     * A client asks for the block; what is done about it is another matter. For {@link #prediction} only.
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
     * Which hit rates stores of other capacities would have had; the capacity is that of the SSD tier, without one that of RAM.
     */
    public CacheSizer.Prediction prediction()
    {
        return sizer.prediction();
    }

    /**
     * A block that was fetched ahead ({@link Fill#commitAhead}) was asked for, or nobody will ask: from now on it is like any other.
     */
    public void asked(Digest128 digest)
    {
        lock.lock();
        try {
            if (!closed) {
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
            if (!closed) {
                memoryFile.writer().publishRings(newestFirst);
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
                    pinnedBytesLocked(),
                    maxPinnedBytesLocked(),
                    refusedPins,
                    ssd.capacityBytes(),
                    ssd.usedBytes(),
                    ssd.blocks(),
                    files.size(),
                    ssd.restoredBlocks(),
                    ram.evictions(),
                    ssd.evictions(),
                    ram.expirations() + ssd.expirations(),
                    ssd.corruptBlocks(),
                    refusedFills,
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
        return recovery;
    }

    /**
     * Writes what is queued and a checkpoint, gives the RAM back and removes the shared-memory file. Pinned blocks and fills that are still
     * open can be closed afterwards, but what they show is not the block's bytes any more.
     */
    @Override
    public void close()
    {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
        }
        finally {
            lock.unlock();
        }
        heartbeat.shutdownNow();
        endQuotaKeeper();
        writeQuotas();
        ssd.close();
        closeQuietly(resources);
    }

    private void endQuotaKeeper()
    {
        // not by an interrupt, which would break off what it writes
        quotaKeeper.shutdown();
        try {
            quotaKeeper.awaitTermination(QUOTA_END_MILLIS, MILLISECONDS);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * For tests: ends like a killed process, which leaves its files behind and its locks free.
     */
    void abandon()
    {
        lock.lock();
        try {
            closed = true;
        }
        finally {
            lock.unlock();
        }
        heartbeat.shutdownNow();
        endQuotaKeeper();
        ssd.abandon();
        memoryFile.abandon();
        closeQuietly(resources);
    }

    /**
     * The version of the format of each SSD directory that takes part.
     */
    public Map<Path, Integer> ssdFormatVersions()
    {
        return ssd.formatVersions();
    }

    /**
     * The newest version of the format that this release writes.
     */
    public int newestSsdFormatVersion()
    {
        return ssd.newestFormatVersion();
    }

    /**
     * Ends the time in which the release before can take the SSD directories back: from now on they are written in the newest version; durable on return.
     *
     * @throws StoreException if that cannot be written to one of them
     */
    public void raiseSsdFormat()
            throws StoreException
    {
        ssd.raiseFormat();
    }

    /**
     * For tests.
     */
    SsdTier ssd()
    {
        return ssd;
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

    private static void closeQuietly(Closer resources)
    {
        try {
            resources.close();
        }
        catch (IOException | RuntimeException e) {
            log.warn(e, "A part of the store did not close: %s", e.getMessage());
        }
    }

    private final class FrameFill
            implements Fill
    {
        private final Digest128 digest;
        private final StoredFile file;
        private final Frame frame;
        private final int length;
        private final ByteBuffer buffer;
        // guarded by the lock
        private boolean done;

        FrameFill(Digest128 digest, StoredFile file, Frame frame, int length)
        {
            this.digest = requireNonNull(digest, "digest is null");
            this.file = requireNonNull(file, "file is null");
            this.frame = requireNonNull(frame, "frame is null");
            this.length = length;
            this.buffer = ram.payload(frame, length).asByteBuffer();
        }

        @Override
        public ByteBuffer buffer()
        {
            return buffer;
        }

        @Override
        public Optional<PinnedBlock> commit()
        {
            return commit(false);
        }

        @Override
        public Optional<PinnedBlock> commitAhead()
        {
            return commit(true);
        }

        private Optional<PinnedBlock> commit(boolean ahead)
        {
            lock.lock();
            try {
                if (done) {
                    throw new IllegalStateException("fill of block %s is committed or closed already".formatted(digest));
                }
                done = true;
            }
            finally {
                lock.unlock();
            }
            ram.wipeBehind(frame, length);
            int checksum = ram.checksum(frame, length, SCRATCH.get());
            lock.lock();
            try {
                return commitLocked(checksum, ahead);
            }
            finally {
                lock.unlock();
            }
        }

        /**
         * @param expectedChecksum of the bytes
         * @return whether the block is there now
         */
        boolean commitGuest(int expectedChecksum)
        {
            ram.wipeBehind(frame, length);
            if (ram.checksum(frame, length, SCRATCH.get()) != expectedChecksum) {
                return false;
            }
            Optional<PinnedBlock> committed;
            lock.lock();
            try {
                done = true;
                committed = commitLocked(expectedChecksum, false);
            }
            finally {
                lock.unlock();
            }
            committed.ifPresent(PinnedBlock::close);
            return committed.isPresent();
        }

        /**
         * The file may have been pinned since the fill began, or pinned blocks have taken all the room that is theirs.
         */
        private void settleClass(Frame frame)
        {
            BlockClass blockClass = frame.terms().blockClass();
            if (!frame.holdsBlock() || blockClass == BlockClass.GUEST) {
                return;
            }
            if (blockClass != BlockClass.PINNED && isPinnedByName(frame.file())) {
                ram.setClass(frame, BlockClass.PINNED);
            }
            if (!aboveSsd && frame.terms().blockClass() == BlockClass.PINNED && ram.pinnedBytes() > maxPinnedBytesLocked()) {
                refusePin(frame.file());
                ram.setClass(frame, BlockClass.HIGH);
            }
        }

        private Optional<PinnedBlock> commitLocked(int checksum, boolean ahead)
        {
            try {
                if (closed || file.isDropped()) {
                    ram.release(frame);
                    return Optional.empty();
                }
                Optional<Frame> present = ram.find(digest);
                if (present.isPresent() && isGuest(present.get()) && !isGuest(frame)) {
                    // this worker's own from now on, which may be written to SSD and does not leave first
                    ram.drop(present.get());
                }
                else if (present.isPresent()) {
                    ram.release(frame);
                    return pinLocked(digest, BlockOrigin.RAM);
                }
                if (ahead) {
                    ram.setFetchedAhead(frame, true);
                }
                ram.publish(frame, file, digest, length, checksum);
                settleClass(frame);
                if (!isGuest(frame)) {
                    // a block that was restored since the fill began is there with the class that it had
                    ssd.setClass(digest, frame.terms().blockClass());
                }
                requestFromSsd(frame, true);
                return Optional.of(new Pin(frame, file.etagDigest(), BlockOrigin.RAM));
            }
            finally {
                files.addFills(file, -1);
            }
        }

        @Override
        public void close()
        {
            lock.lock();
            try {
                if (!done) {
                    done = true;
                    ram.release(frame);
                    files.addFills(file, -1);
                }
            }
            finally {
                lock.unlock();
            }
        }
    }

    private final class Pin
            implements PinnedBlock
    {
        private final Frame frame;
        private final long generation;
        private final int length;
        private final int checksum;
        private final long etagDigest;
        private final BlockOrigin tier;
        // guarded by the lock
        private boolean released;

        /**
         * Of a frame that was pinned for it.
         */
        Pin(Frame frame, long etagDigest, BlockOrigin tier)
        {
            this.frame = requireNonNull(frame, "frame is null");
            this.generation = frame.generation();
            this.length = frame.length();
            this.checksum = frame.checksum();
            this.etagDigest = etagDigest;
            this.tier = requireNonNull(tier, "tier is null");
        }

        @Override
        public int frame()
        {
            return frame.number();
        }

        @Override
        public long frameOffset()
        {
            return ram.frameOffset(frame);
        }

        @Override
        public long generation()
        {
            return generation;
        }

        @Override
        public int length()
        {
            return length;
        }

        @Override
        public long etagDigest()
        {
            return etagDigest;
        }

        @Override
        public int checksum()
        {
            return checksum;
        }

        @Override
        public ByteBuffer payload()
        {
            return ram.payload(frame, length).asByteBuffer().asReadOnlyBuffer();
        }

        @Override
        public BlockOrigin tier()
        {
            return tier;
        }

        @Override
        public void close()
        {
            lock.lock();
            try {
                if (!released) {
                    released = true;
                    ram.unpin(frame);
                }
            }
            finally {
                lock.unlock();
            }
        }
    }
}
