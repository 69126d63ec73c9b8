package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.file.FileVersionId;

import java.util.List;
import java.util.function.IntConsumer;

/**
 * Reads blocks from other cache workers, before the origin is asked.
 */
public interface PeerSource
{
    /**
     * A source without peers.
     */
    PeerSource NONE = new PeerSource()
    {
        @Override
        public void take(FetchTarget target, List<Integer> blocks, IntConsumer taken) {}

        @Override
        public void versionChanged(FileVersionId id) {}
    };

    /**
     * Receives blocks from peers into the store. Blocks the calling thread, for a short time if no peer answers.
     *
     * @param blocks in ascending order
     * @param taken called for each block that has been stored; the block stays in RAM during the call
     */
    void take(FetchTarget target, List<Integer> blocks, IntConsumer taken);

    /**
     * Called when the object at the origin is not this file version, so that blocks of the peers are outdated as well.
     */
    void versionChanged(FileVersionId id);
}
