package io.cachedhive.store.file;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersionId;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Collects the hottest blocks. Used by one thread at a time.
 */
public final class HotBlocks
{
    private static final int SHIELDED_BIT = 16;
    private static final int MAX_FREQUENCY = 15;

    private final int maxCount;
    // by heat
    private final List<List<BlockKey>> keys = new ArrayList<>();
    // shares one id object among all blocks of a file
    private final Map<FileVersionId, FileVersionId> files = new HashMap<>();
    private int count;

    /**
     * @param maxCount maximum number of blocks
     */
    public HotBlocks(int maxCount)
    {
        this.maxCount = maxCount;
        for (int heat = 0; heat < 2 * SHIELDED_BIT; heat++) {
            keys.add(new ArrayList<>());
        }
    }

    /**
     * @param shielded whether the block would be among the last to be evicted
     * @param frequency recent number of requests
     */
    public void add(StoredFile file, Digest128 digest, boolean shielded, int frequency)
    {
        add((shielded ? SHIELDED_BIT : 0) | Math.clamp(frequency, 0, MAX_FREQUENCY), file, digest);
    }

    private void add(int heat, StoredFile file, Digest128 digest)
    {
        if (count == maxCount && !makeRoom(heat)) {
            return;
        }
        FileVersionId id = files.computeIfAbsent(file.id(), found -> found);
        keys.get(heat).add(BlockKey.of(id, digest));
        count++;
    }

    private boolean makeRoom(int heat)
    {
        for (int colder = 0; colder < heat; colder++) {
            if (!keys.get(colder).isEmpty()) {
                keys.get(colder).removeLast();
                count--;
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the blocks, hottest first.
     */
    public List<BlockKey> toList()
    {
        List<BlockKey> result = new ArrayList<>(count);
        keys.reversed().forEach(result::addAll);
        return result;
    }
}
