package io.cachedhive.plugin.preload;

/**
 * As {@code cache.preloads} shows it.
 */
public enum PreloadState
{
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
        return this != QUEUED && this != RUNNING;
    }
}
