package io.cachedhive.plugin.preload;

/**
 * As {@code cache.preloads} shows it.
 */
enum PreloadState
{
    RUNNING,
    FINISHED,
    /**
     * Some of the bytes could not be loaded.
     */
    FAILED,
}
