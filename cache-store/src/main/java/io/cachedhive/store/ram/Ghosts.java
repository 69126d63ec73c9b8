package io.cachedhive.store.ram;

import io.cachedhive.protocol.file.Digest128;

import java.util.LinkedHashSet;

/**
 * The blocks that were evicted lately without ever being used.
 */
final class Ghosts
{
    private final LinkedHashSet<Digest128> digests = new LinkedHashSet<>();
    private int capacity;

    /**
     * @param capacity how many are remembered
     */
    void setCapacity(int capacity)
    {
        this.capacity = capacity;
    }

    void add(Digest128 digest)
    {
        digests.add(digest);
        while (digests.size() > capacity) {
            digests.removeFirst();
        }
    }

    boolean remove(Digest128 digest)
    {
        return digests.remove(digest);
    }
}
