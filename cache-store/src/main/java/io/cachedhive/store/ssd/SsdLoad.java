package io.cachedhive.store.ssd;

import java.util.concurrent.RejectedExecutionException;

/**
 * A reserved read of a block, which counts against the limit of its directory until {@link #end}. Guarded by the
 * store's lock, except where a method specifies otherwise.
 */
public interface SsdLoad
{
    /**
     * Runs the read on a thread of the directory. Callers must not hold the lock.
     *
     * @throws RejectedExecutionException if the tier was closed
     */
    void execute(Runnable read);

    /**
     * Returns whether the read takes so long that its readers have to be refused.
     */
    boolean isLate();

    /**
     * @param answered whether the directory answered, in whatever way
     */
    void end(boolean answered);
}
