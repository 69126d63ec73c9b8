package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;

/**
 * Converts the terms of a read to the types of the store.
 */
public final class KeptTerms
{
    private KeptTerms() {}

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
