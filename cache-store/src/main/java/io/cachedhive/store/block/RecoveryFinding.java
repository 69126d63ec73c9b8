package io.cachedhive.store.block;

/**
 * The findings of recovery. Each leads to its own decision, and none has worse effects than cache misses.
 */
public enum RecoveryFinding
{
    /**
     * The directory had no store, so one was created.
     */
    NEW_DIRECTORY,
    /**
     * The checkpoint of a clean stop was restored.
     */
    CLEAN_STOP,
    /**
     * The last run did not stop cleanly; checkpoint and journal were restored.
     */
    CRASH,
    SUPERBLOCK_CORRUPT,
    SUPERBLOCK_TOO_OLD,
    SUPERBLOCK_TOO_NEW,
    /**
     * The store belongs to another cache worker.
     */
    FOREIGN_STORE,
    /**
     * Block size, slab size or capacity differ from the configuration.
     */
    GEOMETRY_CHANGED,
    /**
     * The contents are not encrypted, and the configuration requires encryption.
     */
    NOT_ENCRYPTED,
    /**
     * The file with the data key is damaged, so the contents cannot be read.
     */
    ENCRYPTION_KEY_CORRUPT,
    CHECKPOINT_MISSING,
    CHECKPOINT_CORRUPT,
    CHECKPOINT_TOO_OLD,
    CHECKPOINT_TOO_NEW,
    CHECKPOINT_FOREIGN,
    /**
     * The checkpoint is older than the superblock allows, because of a run without checkpoints or an invalidation.
     */
    CHECKPOINT_OUTDATED,
    /**
     * The last batch of the journal is incomplete, as usual after a crash.
     */
    JOURNAL_TORN,
    /**
     * A batch that was synced, because others follow it, does not verify.
     */
    JOURNAL_CORRUPT,
    /**
     * The journal does not reach back to the checkpoint.
     */
    JOURNAL_GAP,
    SLAB_MISSING,
    SLAB_SIZE_CHANGED,
    /**
     * The directory was offline when the store was opened, and was added later.
     */
    TAKEN_IN_LATE,
    /**
     * The shared-memory file of a worker that did not stop cleanly was removed and its memory freed.
     */
    MEMORY_FILE_RECLAIMED,
    /**
     * A file with the name of a shared-memory file that may be another user's was skipped.
     */
    MEMORY_FILE_FOREIGN;

    /**
     * Returns whether the finding indicates a problem beyond a normal stop or crash.
     */
    public boolean isDoubt()
    {
        return switch (this) {
            case NEW_DIRECTORY, CLEAN_STOP, CRASH, JOURNAL_TORN, TAKEN_IN_LATE, MEMORY_FILE_RECLAIMED -> false;
            default -> true;
        };
    }
}
