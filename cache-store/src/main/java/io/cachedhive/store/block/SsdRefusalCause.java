package io.cachedhive.store.block;

/**
 * Why a block was kept in RAM only.
 */
public enum SsdRefusalCause
{
    /**
     * It was asked for less often than the block that would have had to leave for it, and as the queries are, such blocks are not missed.
     */
    NOT_ADMITTED,
    /**
     * Too many blocks wait to be written, or too many changes of the index for a checkpoint.
     */
    QUEUE_FULL,
    /**
     * Its directory takes no blocks at present.
     */
    OUT_OF_SERVICE,
    /**
     * All that is there is of a higher class, or being written, or not restored yet; or its table is at its quota, with nothing that could leave for it; or its file
     * is too long, or has too long a name.
     */
    NO_ROOM,
}
