package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;

/**
 * What a read says of how its blocks are to be kept, in the words of the store.
 */
public final class KeptTerms
{
    private KeptTerms() {}

    /**
     * Of a block that is filled now.
     */
    public static BlockTerms of(BlockStore store, FillTerms terms)
    {
        return store.terms(terms.fillClass().map(KeptTerms::blockClass), terms.ttlMillis());
    }

    public static BlockClass blockClass(FillClass fillClass)
    {
        return switch (fillClass) {
            case NORMAL -> BlockClass.NORMAL;
            case HIGH -> BlockClass.HIGH;
            case PINNED -> BlockClass.PINNED;
        };
    }
}
