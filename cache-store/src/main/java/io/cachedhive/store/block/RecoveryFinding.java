package io.cachedhive.store.block;

/**
 * What recovery can find. Each is a decision of its own; none costs more than misses.
 */
public enum RecoveryFinding
{
    /**
     * The directory had no store: one was made.
     */
    NEW_DIRECTORY,
    /**
     * The checkpoint of a clean stop was restored.
     */
    CLEAN_STOP,
    /**
     * The last run did not stop cleanly: checkpoint and journal were restored.
     */
    CRASH,
    SUPERBLOCK_CORRUPT,
    SUPERBLOCK_TOO_OLD,
    SUPERBLOCK_TOO_NEW,
    /**
     * The store of another cache worker.
     */
    FOREIGN_STORE,
    /**
     * Other block size, slab size or capacity than configured.
     */
    GEOMETRY_CHANGED,
    CHECKPOINT_MISSING,
    CHECKPOINT_CORRUPT,
    CHECKPOINT_TOO_OLD,
    CHECKPOINT_TOO_NEW,
    CHECKPOINT_FOREIGN,
    /**
     * Older than the superblock allows: a run without checkpoints, or an invalidation, came after it.
     */
    CHECKPOINT_OUTDATED,
    /**
     * The journal's last batch was not complete: normal after a crash.
     */
    JOURNAL_TORN,
    /**
     * A batch that had been synced, with others after it, does not verify.
     */
    JOURNAL_CORRUPT,
    /**
     * The journal does not reach back to the checkpoint.
     */
    JOURNAL_GAP,
    SLAB_MISSING,
    SLAB_SIZE_CHANGED,
    /**
     * The directory was out of service when the store was opened, and came while it was in use.
     */
    TAKEN_IN_LATE,
    /**
     * The shared-memory file of a worker that did not stop cleanly was found and its memory given back.
     */
    MEMORY_FILE_RECLAIMED;

    /**
     * Whether something was not as a stop or a crash leaves it.
     */
    public boolean isDoubt()
    {
        return switch (this) {
            case NEW_DIRECTORY, CLEAN_STOP, CRASH, JOURNAL_TORN, TAKEN_IN_LATE, MEMORY_FILE_RECLAIMED -> false;
            default -> true;
        };
    }
}
