package io.cachedhive.worker.fetch;

import io.cachedhive.worker.fetch.BlockFetcher.Priority;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

import static java.util.Objects.requireNonNull;

/**
 * The blocks of a file version that are wanted or on their way. Guarded by the lock of {@link FetchQueues}.
 */
final class FileFetches
{
    private static final List<Priority> QUEUED = List.of(Priority.READ, Priority.PRELOAD);

    final FetchTarget target;
    final BucketQueue queue;
    private final NavigableMap<Integer, WantedBlock> wanted = new TreeMap<>();
    private final NavigableMap<Integer, WantedBlock> wantedPreloads = new TreeMap<>();
    private final Map<Integer, WantedBlock> running = new HashMap<>();
    // refused by the origin, to be wanted again after a pause
    private final Map<Integer, WantedBlock> paused = new HashMap<>();
    // whether it has a turn to come
    private boolean queued;
    private boolean queuedPreloads;

    FileFetches(FetchTarget target, BucketQueue queue)
    {
        this.target = requireNonNull(target, "target is null");
        this.queue = requireNonNull(queue, "queue is null");
    }

    void want(WantedBlock block)
    {
        wanted(block.priority).put(block.index, block);
        queue.queued(block.priority, 1);
    }

    /**
     * The block as somebody else wants it already. What a preload wants and a read wants now too is wanted by a read from now on.
     */
    Optional<WantedBlock> find(int index, Priority priority)
    {
        WantedBlock found = running.get(index);
        if (found == null) {
            found = paused.get(index);
        }
        if (found == null) {
            found = wanted.get(index);
        }
        if (found == null && priority == Priority.READ) {
            found = takeWanted(Priority.PRELOAD, index);
            if (found != null) {
                found.priority = Priority.READ;
                want(found);
            }
        }
        if (found == null) {
            found = wantedPreloads.get(index);
        }
        if (found != null && priority.compareTo(found.priority) < 0) {
            // should it be asked for again, then for who is in the greatest hurry
            found.priority = priority;
        }
        return Optional.ofNullable(found);
    }

    private WantedBlock takeWanted(Priority priority, int index)
    {
        WantedBlock block = wanted(priority).remove(index);
        if (block != null) {
            queue.queued(priority, -1);
        }
        return block;
    }

    /**
     * Takes its turns in the bucket's queues, if it wants something and has none.
     */
    void enqueue()
    {
        if (!queued && !wanted.isEmpty()) {
            queued = true;
            queue.files.addLast(this);
        }
        if (!queuedPreloads && !wantedPreloads.isEmpty()) {
            queuedPreloads = true;
            queue.preloads.addLast(this);
        }
    }

    /**
     * Its turn has come.
     */
    void dequeued(Priority priority)
    {
        switch (priority) {
            case READ -> queued = false;
            case PRELOAD -> queuedPreloads = false;
            case AHEAD -> throw new IllegalArgumentException("prefetched blocks are not queued");
        }
    }

    /**
     * Takes the first run of neighbours that are wanted, for a request.
     *
     * @return empty if what was wanted was abandoned meanwhile, or moved to the other queue
     */
    List<WantedBlock> takeRange(Priority priority, int maxBlocks)
    {
        List<WantedBlock> range = new ArrayList<>();
        if (wanted(priority).isEmpty()) {
            return range;
        }
        int index = wanted(priority).firstKey();
        while (range.size() < maxBlocks) {
            WantedBlock block = takeWanted(priority, index);
            if (block == null) {
                break;
            }
            run(block);
            range.add(block);
            index++;
        }
        return range;
    }

    /**
     * A request for the block is about to be made.
     */
    void run(WantedBlock block)
    {
        running.put(block.index, block);
    }

    /**
     * @return whether a request for this very block was under way
     */
    boolean takeRunning(WantedBlock block)
    {
        return running.remove(block.index, block);
    }

    void pause(WantedBlock block)
    {
        paused.put(block.index, block);
    }

    /**
     * The block's pause is over. If nobody waits any more, nothing happens.
     */
    void resume(WantedBlock block)
    {
        if (paused.remove(block.index, block)) {
            want(block);
        }
    }

    void forgetWaiter(BlockWaiter waiter)
    {
        for (Priority priority : QUEUED) {
            int before = wanted(priority).size();
            wanted(priority).values().removeIf(block -> isLeft(block, waiter));
            queue.queued(priority, wanted(priority).size() - before);
        }
        paused.values().removeIf(block -> isLeft(block, waiter));
        running.values().forEach(block -> block.waiters.removeIf(candidate -> candidate == waiter));
    }

    private static boolean isLeft(WantedBlock block, BlockWaiter waiter)
    {
        return block.waiters.removeIf(candidate -> candidate == waiter) && block.waiters.isEmpty();
    }

    /**
     * All blocks for which no request is under way.
     */
    List<WantedBlock> takeWaiting()
    {
        List<WantedBlock> waiting = new ArrayList<>(paused.values());
        paused.clear();
        for (Priority priority : QUEUED) {
            waiting.addAll(wanted(priority).values());
            queue.queued(priority, -wanted(priority).size());
            wanted(priority).clear();
        }
        return waiting;
    }

    private NavigableMap<Integer, WantedBlock> wanted(Priority priority)
    {
        return switch (priority) {
            case READ -> wanted;
            case PRELOAD -> wantedPreloads;
            case AHEAD -> throw new IllegalArgumentException("prefetched blocks are not queued");
        };
    }

    boolean isEmpty()
    {
        return wanted.isEmpty() && wantedPreloads.isEmpty() && running.isEmpty() && paused.isEmpty();
    }
}
