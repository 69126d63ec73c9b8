package io.cachedhive.store;

import com.google.common.base.Throwables;
import com.google.common.io.Closer;
import com.google.common.util.concurrent.Uninterruptibles;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.block.ByteSize;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.encryption.OperatorKey;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.quota.TableQuotas;
import io.cachedhive.store.ram.LeftMemory;
import io.cachedhive.store.ram.MemoryFile;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.SsdCandidates;
import io.cachedhive.store.ssd.SsdTier;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * The opened parts of a store. The opening order ensures that a crash in between loses nothing.
 *
 * @param instance random id of this run
 * @param quotas guarded by the lock of the tiers
 * @param recovery recovery results
 * @param resources everything except the SSD tier; closed after it
 */
record StoreParts(
        StateDirectory state,
        CacheWorkerId workerId,
        Digest128 instance,
        Tiers tiers,
        TableQuotas quotas,
        MemoryFile memoryFile,
        List<RecoveryOutcome> recovery,
        Closer resources)
{
    private static final Logger log = Logger.get(StoreParts.class);

    StoreParts
    {
        requireNonNull(state, "state is null");
        requireNonNull(workerId, "workerId is null");
        requireNonNull(instance, "instance is null");
        requireNonNull(tiers, "tiers is null");
        requireNonNull(quotas, "quotas is null");
        requireNonNull(memoryFile, "memoryFile is null");
        recovery = List.copyOf(recovery);
        requireNonNull(resources, "resources is null");
    }

    /**
     * @param blocksRestoredFirst blocks restored before this method returns, per SSD directory
     */
    static StoreParts open(StoreConfig config, StoreEnvironment environment, long blocksRestoredFirst)
            throws StoreException
    {
        MemoryLayout layout;
        try {
            layout = MemoryLayout.forFileSize(config.ramMaxSizeBytes(), config.blockSizeBytes());
        }
        catch (IllegalArgumentException e) {
            throw new StoreException("cache.ram.max-size (%s) and cache.block-size (%s) are not compatible: %s".formatted(
                    ByteSize.format(config.ramMaxSizeBytes()),
                    ByteSize.format(config.blockSizeBytes()),
                    e.getMessage()),
                    e);
        }
        if (!Files.isDirectory(config.ramDirectory())) {
            throw new StoreException("cache.ram.directory %s is not a directory: create it, or name one on tmpfs".formatted(config.ramDirectory()));
        }
        Closer resources = Closer.create();
        SsdTier ssd = null;
        boolean success = false;
        try {
            Optional<OperatorKey> operatorKey = config.encryptionKey().isPresent() ? Optional.of(config.encryptionKey().get().read()) : Optional.empty();
            StateDirectory state = resources.register(StateDirectory.open(config.stateDirectory(), environment, operatorKey));
            SsdCandidates candidates = resources.register(
                    SsdCandidates.probe(config.ssdDirectories(), config.blockSizeBytes(), environment.disk(), operatorKey, state.ssdMounts(), environment.ssdFormat()));
            CacheWorkerId workerId = workerId(state, candidates);
            LeftMemory leftMemory = resources.register(LeftMemory.takeOver(config.ramDirectory(), workerId));
            List<RecoveryOutcome> recovery = new ArrayList<>(leftMemory.outcomes());
            long keptRun = state.lastRun(workerId);

            Digest128 instance = new Digest128(environment.random().nextLong(), environment.random().nextLong());
            // even the index of much memory takes a second to allocate
            FutureTask<MemoryFile> allocation = new FutureTask<>(
                    () -> MemoryFile.create(config.ramDirectory(), layout, instance, workerId, config.sharedGroup(), environment.memory(), leftMemory));
            environment.threads().newThread(allocation).start();
            resources.register(() -> closeAllocated(allocation));

            ReentrantLock lock = environment.locks().get();
            FileTable files = new FileTable();
            // quotas have to exist before any block
            TableQuotas quotas = new TableQuotas(files, state.tableQuotas());
            ssd = SsdTier.open(
                    candidates,
                    workerId,
                    keptRun,
                    config.checkpointInterval(),
                    blocksRestoredFirst,
                    files,
                    lock,
                    environment);
            // after the directories, because after a crash in between they must not look as if they had missed a run
            state.keepRun(workerId, ssd.run());
            state.keepSsdMounts(ssd.mounts());
            recovery.addAll(ssd.recovery());

            MemoryFile memoryFile = await(allocation);
            boolean aboveSsd = !config.ssdDirectories().isEmpty();
            RamTier ram = new RamTier(memoryFile, files, environment.clock(), config.guestMaxShare(), aboveSsd);
            // clients compare generations within one file only, but unique ones across files cost nothing
            ram.setFirstGeneration(Math.max(0, environment.clock().currentTimeMillis()) << 20);
            Tiers tiers = new Tiers(lock, files, ram, ssd, config.blockSizeBytes(), aboveSsd);
            StoreParts parts = new StoreParts(state, workerId, instance, tiers, quotas, memoryFile, recovery, resources);
            for (RecoveryOutcome outcome : recovery) {
                if (outcome.finding().isDoubt()) {
                    log.warn("Recovery: %s", outcome);
                }
                else {
                    log.info("Recovery: %s", outcome);
                }
            }
            success = true;
            return parts;
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
            log.debug("No memory to release: %s", e.getMessage());
        }
    }

    /**
     * Returns the id in the superblocks, because the SSD identifies the worker. Without a readable superblock, returns
     * the id in the state directory, or a new one.
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

    void close()
    {
        tiers.ssd().close();
        closeQuietly(resources);
    }

    /**
     * Closes the parts but keeps the files of the tiers, with their locks free. For tests.
     */
    void abandon()
    {
        tiers.ssd().abandon();
        memoryFile.abandon();
        closeQuietly(resources);
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
}
