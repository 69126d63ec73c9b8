package io.cachedhive.client.counters;

import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.protocol.wire.PolicyMessage.Reclassify;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The blocks that were read from shared memory by reads that want them to have a class: whether they have it, only the worker knows. Bounded, as {@link HitLog}:
 * what does not fit is told when it is read again.
 */
public final class ClassHits
{
    private final Map<FillClass, HitLog> hits = new EnumMap<>(FillClass.class);

    /**
     * @param capacity for each class
     */
    public ClassHits(int capacity)
    {
        for (FillClass fillClass : FillClass.values()) {
            hits.put(fillClass, new HitLog(capacity));
        }
    }

    public void add(FillClass fillClass, long digestHigh, long digestLow)
    {
        hits.get(fillClass).add(digestHigh, digestLow);
    }

    /**
     * What to tell the worker now.
     */
    public List<Reclassify> drain()
    {
        List<Reclassify> messages = new ArrayList<>();
        hits.forEach((fillClass, log) -> {
            Reclassify message = new Reclassify(fillClass, log.drain());
            if (!message.blocks().isEmpty()) {
                messages.add(message);
            }
        });
        return messages;
    }
}
