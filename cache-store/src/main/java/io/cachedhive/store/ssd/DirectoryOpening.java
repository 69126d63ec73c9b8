package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.column.ByteColumn;
import io.cachedhive.store.file.FileTable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * What a directory had when it was opened: restored in its first step, or formatted.
 *
 * @param superblock of this run
 * @param recovery for the second step; empty if the directory was formatted
 * @param outcomes what was found, and what was done about it
 */
record DirectoryOpening(Superblock superblock, Optional<DirectoryRecovery> recovery, DirectoryRecovery.Result result, List<RecoveryOutcome> outcomes)
{
    DirectoryOpening
    {
        requireNonNull(superblock, "superblock is null");
        requireNonNull(recovery, "recovery is null");
        requireNonNull(result, "result is null");
        outcomes = List.copyOf(outcomes);
    }

    /**
     * Without the lock.
     *
     * @param lastRun the last run of this worker's store, with any directory
     * @param usedRun the last one in which it was used
     * @param newStoreId for a directory that is formatted
     * @param newVersion likewise, of the format
     */
    static DirectoryOpening open(
            DirectoryCandidate candidate,
            CacheWorkerId workerId,
            long lastRun,
            long usedRun,
            Digest128 newStoreId,
            int newVersion,
            DirectoryContents contents,
            FileTable files,
            ReentrantLock lock,
            ThreadFactory threads)
            throws IOException
    {
        List<RecoveryOutcome> outcomes = new ArrayList<>();
        Optional<RecoveryOutcome> reason = candidate.reasonToFormat(workerId, usedRun);
        if (reason.isEmpty()) {
            candidate.superblockDoubt().ifPresent(outcomes::add);
            return restore(candidate, candidate.superblock().orElseThrow(), lastRun + 1, contents, files, lock, threads, outcomes);
        }
        outcomes.add(reason.get());
        Superblock superblock = format(newVersion, candidate.files(), candidate.geometry(), workerId, lastRun + 1, usedRun, newStoreId);
        DirectoryRecovery.Result nothing = new DirectoryRecovery.Result(
                List.of(),
                new ByteColumn(),
                superblock.baseLsn(),
                superblock.baseLsn(),
                0,
                superblock.baseLsn(),
                superblock.minCheckpoint(),
                0,
                false);
        return new DirectoryOpening(superblock, Optional.empty(), nothing, outcomes);
    }

    private static Superblock format(int version, DirectoryFiles opened, Geometry geometry, CacheWorkerId workerId, long run, long usedRun, Digest128 storeId)
            throws IOException
    {
        opened.make(geometry);
        Superblock made = new Superblock(version, storeId, 0, run, usedRun, workerId, geometry, Journal.firstLsn(geometry.journalBytes()), 1).writeTo(opened.superblock());
        opened.sync();
        return made;
    }

    private static DirectoryOpening restore(
            DirectoryCandidate candidate,
            Superblock found,
            long run,
            DirectoryContents contents,
            FileTable files,
            ReentrantLock lock,
            ThreadFactory threads,
            List<RecoveryOutcome> outcomes)
            throws IOException
    {
        DirectoryFiles opened = candidate.files();
        Geometry geometry = candidate.geometry();
        boolean[] slabIsNew = opened.open(geometry, outcomes::add);
        boolean success = false;
        try (ExecutorService taker = Executors.newSingleThreadExecutor(threads);
                ExecutorService verifier = Executors.newSingleThreadExecutor(threads)) {
            DirectoryRecovery recovery = new DirectoryRecovery(
                    candidate.path(),
                    found,
                    candidate.format(),
                    opened.journal(),
                    opened.checkpoints(),
                    contents.index(),
                    contents.slabs(),
                    slabIsNew,
                    files,
                   
                    taker,
                    verifier);
            try {
                DirectoryRecovery.Result result = recover(recovery, lock);
                Superblock next = found.withRun(run);
                if (result.givenUp()) {
                    next = next.withBase(result.nextLsn(), result.nextCheckpoint());
                }
                Superblock written = next.writeTo(opened.superblock());
                // not before the superblock says that what the journal had is void
                opened.journal().allocate(geometry.journalBytes());
                success = true;
                result.outcomes().stream().distinct().forEach(outcomes::add);
                return new DirectoryOpening(written, Optional.of(recovery), result, outcomes);
            }
            finally {
                if (!success) {
                    abandon(recovery, lock);
                }
            }
        }
    }

    private static DirectoryRecovery.Result recover(DirectoryRecovery recovery, ReentrantLock lock)
            throws IOException
    {
        lock.lock();
        try {
            // nobody waits for the lock while the store is being opened
            return recovery.recover();
        }
        finally {
            lock.unlock();
        }
    }

    private static void abandon(DirectoryRecovery recovery, ReentrantLock lock)
    {
        lock.lock();
        try {
            recovery.abandon();
        }
        finally {
            lock.unlock();
        }
    }
}
