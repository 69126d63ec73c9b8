package io.cachedhive.store.block;

/**
 * The reason for keeping a block in RAM only.
 */
public enum SsdRefusalCause
{
    /**
     * The block has fewer requests than the block to evict for it, and the admission filter costs no hits with the
     * current workload.
     */
    NOT_ADMITTED,
    /**
     * The write queue is full, or the journal is full until the next checkpoint.
     */
    QUEUE_FULL,
    /**
     * The directory is not writable at present.
     */
    OUT_OF_SERVICE,
    /**
     * All blocks to evict have a higher class, or are being written or restored; or the table is at its quota and has
     * no block to evict; or the file or its name is too long.
     */
    NO_ROOM,
}
