package io.cachedhive.plugin.preload;

/**
 * As {@code cache.preloads} shows it.
 */
public enum PreloadState
{
    /**
     * Begins at a certain time, or as soon as it can after that time.
     */
    SCHEDULED,
    /**
     * Waits for other preloads of the catalog to end.
     */
    QUEUED,
    RUNNING,
    FINISHED,
    /**
     * Some of the bytes could not be loaded.
     */
    FAILED,
    /**
     * Somebody called {@code cancel_preload}, or the catalog was dropped.
     */
    CANCELED;

    public boolean isEnd()
    {
        return this != SCHEDULED && this != QUEUED && this != RUNNING;
    }
}
