package io.cachedhive.store;

/**
 * Receives the result of {@link BlockStore#load}. Exactly one method is called, once, on any thread, without the
 * store's lock. None is called if the listener was cancelled before.
 */
public interface LoadListener
{
    /**
     * @param block closed by the listener
     */
    void loaded(PinnedBlock block);

    /**
     * The block is in neither tier, or failed verification, which drops and counts it.
     */
    void absent();

    void refused(LoadRefusal cause);

    /**
     * Returns whether the result is no longer needed. Called under the store's lock.
     */
    default boolean isCancelled()
    {
        return false;
    }
}
