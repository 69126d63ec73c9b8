package io.cachedhive.store;

/**
 * Why a block on SSD was not loaded, although it is still there.
 */
public enum LoadRefusal
{
    /**
     * Too many blocks of its directory are being loaded, or the directory does not answer in time.
     */
    DIRECTORY,
    /**
     * There is no free frame.
     */
    FRAMES,
}
