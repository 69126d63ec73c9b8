package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.file.FileVersionId;

import java.util.List;
import java.util.function.IntConsumer;

/**
 * Other cache workers that may have a block. They are asked before its origin.
 */
public interface PeerSource
{
    /**
     * Asks nobody.
     */
    PeerSource NONE = new PeerSource()
    {
        @Override
        public void take(FetchTarget target, List<Integer> blocks, IntConsumer taken) {}

        @Override
        public void versionChanged(FileVersionId id) {}
    };

    /**
     * Takes into the store what others have of the blocks. Blocks the calling thread, for a short time where nobody answers.
     *
     * @param blocks in ascending order
     * @param taken told of each block that is in the store now, which stays in RAM during the call
     */
    void take(FetchTarget target, List<Integer> blocks, IntConsumer taken);

    /**
     * The object at the origin is not, or not any more, this file version: what others have of it is no better.
     */
    void versionChanged(FileVersionId id);
}
