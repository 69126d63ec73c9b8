package io.cachedhive.store.ssd;

import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.column.ByteColumn;

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
 * The state of a directory after opening: formatted, or restored by the first step of recovery.
 *
 * @param superblock of this run
 * @param recovery for the second step; empty if the directory was formatted
 * @param outcomes findings and decisions
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
     * Callers must not hold the lock.
     */
    static DirectoryOpening open(DirectoryCandidate candidate, OpeningRun run, DirectoryContents contents, ReentrantLock lock, ThreadFactory threads)
            throws IOException
    {
        List<RecoveryOutcome> outcomes = new ArrayList<>();
        Optional<RecoveryOutcome> reason = candidate.reasonToFormat(run.workerId(), run.usedRun());
        if (reason.isEmpty()) {
            candidate.superblockDoubt().ifPresent(outcomes::add);
            return restore(candidate, candidate.superblock().orElseThrow(), run.run(), contents, lock, threads, outcomes);
        }
        outcomes.add(reason.get());
        Superblock superblock = format(candidate.files(), candidate.geometry(), run);
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

    private static Superblock format(DirectoryFiles opened, Geometry geometry, OpeningRun run)
            throws IOException
    {
        opened.make(geometry);
        Superblock made = new Superblock(
                run.newVersion(),
                run.newStoreId(),
                0,
                run.run(),
                run.usedRun(),
                run.workerId(),
                geometry,
                Journal.firstLsn(geometry.journalBytes()),
                1).writeTo(opened.superblock());
        opened.sync();
        return made;
    }

    private static DirectoryOpening restore(
            DirectoryCandidate candidate,
            Superblock found,
            long run,
            DirectoryContents contents,
            ReentrantLock lock,
            ThreadFactory threads,
            List<RecoveryOutcome> outcomes)
            throws IOException
    {
        DirectoryFiles opened = candidate.files();
        Geometry geometry = candidate.geometry();
        boolean[] slabIsNew = opened.open(geometry, outcomes::add);
        boolean success = false;
        try (ExecutorService loader = Executors.newSingleThreadExecutor(threads);
                ExecutorService verifier = Executors.newSingleThreadExecutor(threads)) {
            DirectoryRecovery recovery = new DirectoryRecovery(
                    new RecoverySource(candidate.path(), found, candidate.format(), opened.journal(), opened.checkpoints(), opened.cipher()),
                    contents,
                    slabIsNew,
                    loader,
                    verifier);
            try {
                DirectoryRecovery.Result result = recover(recovery, lock);
                Superblock next = found.withRun(run);
                if (result.givenUp()) {
                    next = next.withBase(result.nextLsn(), result.nextCheckpoint());
                }
                Superblock written = next.writeTo(opened.superblock());
                // only after the superblock has invalidated the old contents of the journal
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
            // holding the lock for long is harmless while the store is being opened
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
