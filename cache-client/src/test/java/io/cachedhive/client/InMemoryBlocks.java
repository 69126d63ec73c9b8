package io.cachedhive.client;

import io.cachedhive.client.local.BlockMemory;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.memory.BlockInfo;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.memory.TestingBlockInfo;
import io.cachedhive.protocol.ring.PublishedRing;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Shared memory on the heap: the same contract, without a file.
 */
final class InMemoryBlocks
{
    private final Digest128 instance;
    private final int blockSizeBytes;
    private final Map<Digest128, Frame> index = new ConcurrentHashMap<>();
    private final Set<Digest128> fetchedAhead = ConcurrentHashMap.newKeySet();
    private final Map<Integer, Frame> frames = new ConcurrentHashMap<>();
    private final AtomicInteger nextFrame = new AtomicInteger();
    private final AtomicLong ringsSequence = new AtomicLong();
    private final AtomicInteger mappings = new AtomicInteger();
    private volatile List<PublishedRing> rings = List.of();
    private volatile MemoryState state = MemoryState.LIVE;

    InMemoryBlocks(Digest128 instance, int blockSizeBytes)
    {
        this.instance = instance;
        this.blockSizeBytes = blockSizeBytes;
    }

    Digest128 instance()
    {
        return instance;
    }

    record Frame(int number, long generation, Digest128 digest, byte[] bytes, long etagDigest) {}

    /**
     * From now on, or no more, readers are told that the block was fetched ahead.
     */
    void setFetchedAhead(BlockKey key, boolean ahead)
    {
        if (ahead) {
            fetchedAhead.add(key.digest());
        }
        else {
            fetchedAhead.remove(key.digest());
        }
    }

    /**
     * Makes the block readable without asking.
     */
    void put(BlockKey key, byte[] bytes, long etagDigest)
    {
        index.put(key.digest(), frame(key, bytes, etagDigest));
    }

    /**
     * Makes a frame that the index does not know.
     */
    Frame frame(BlockKey key, byte[] bytes, long etagDigest)
    {
        int number = nextFrame.incrementAndGet();
        Frame frame = new Frame(number, 2L * number, key.digest(), bytes, etagDigest);
        frames.put(number, frame);
        return frame;
    }

    void clear()
    {
        index.clear();
        frames.clear();
    }

    void setRings(List<PublishedRing> rings)
    {
        this.rings = List.copyOf(rings);
        ringsSequence.incrementAndGet();
    }

    void setState(MemoryState state)
    {
        this.state = state;
    }

    /**
     * How many clients have it mapped.
     */
    int mappings()
    {
        return mappings.get();
    }

    BlockMemory map()
    {
        mappings.incrementAndGet();
        return new Mapped();
    }

    private final class Mapped
            implements BlockMemory
    {
        private volatile boolean closed;

        @Override
        public MemoryState state()
        {
            return closed ? MemoryState.DEAD : state;
        }

        @Override
        public Digest128 instance()
        {
            return instance;
        }

        @Override
        public int blockSizeBytes()
        {
            return blockSizeBytes;
        }

        @Override
        public long ringsSequence()
        {
            return ringsSequence.get();
        }

        @Override
        public List<PublishedRing> rings()
        {
            return new ArrayList<>(rings);
        }

        @Override
        public int read(long digestHigh, long digestLow, int offsetInBlock, byte[] target, int targetOffset, int length, BlockInfo info)
        {
            Frame frame = index.get(new Digest128(digestHigh, digestLow));
            if (closed || frame == null || offsetInBlock + length > frame.bytes().length) {
                return -1;
            }
            System.arraycopy(frame.bytes(), offsetInBlock, target, targetOffset, length);
            TestingBlockInfo.set(info, frame.etagDigest(), frame.bytes().length, fetchedAhead.contains(frame.digest()));
            return length;
        }

        @Override
        public boolean readFrame(
                int number,
                long frameOffset,
                long generation,
                long digestHigh,
                long digestLow,
                int offsetInBlock,
                byte[] target,
                int targetOffset,
                int length)
        {
            Frame frame = frames.get(number);
            if (closed || frame == null || frame.generation() != generation || !frame.digest().equals(new Digest128(digestHigh, digestLow))) {
                return false;
            }
            System.arraycopy(frame.bytes(), offsetInBlock, target, targetOffset, length);
            return true;
        }

        @Override
        public void close()
        {
            if (!closed) {
                closed = true;
                mappings.decrementAndGet();
            }
        }
    }
}
