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
 * The blocks of a file version that are queued or being fetched. Guarded by the lock of {@link FetchQueues}.
 */
final class FileFetches
{
    private static final List<Priority> QUEUED = List.of(Priority.READ, Priority.PRELOAD);

    final FetchTarget target;
    final BucketQueue queue;
    private final NavigableMap<Integer, WantedBlock> wanted = new TreeMap<>();
    private final NavigableMap<Integer, WantedBlock> wantedPreloads = new TreeMap<>();
    private final Map<Integer, WantedBlock> running = new HashMap<>();
    // throttled by the origin; queued again after a pause
    private final Map<Integer, WantedBlock> paused = new HashMap<>();
    // whether the file is in the queues of its bucket
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
     * Returns the block if it is already queued or being fetched. Moves a preload to the queue of reads if a read
     * requests it.
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
            // if the block has to be requested again, the most urgent priority applies
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
     * Adds the file to the bucket's queues if it has queued blocks and is not in them yet.
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
     * Records that the file has been removed from a queue of its bucket.
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
     * Takes the first run of adjacent queued blocks for a request.
     *
     * @return empty if all blocks were abandoned meanwhile or moved to the other queue
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
     * Records that a request for the block is about to start.
     */
    void run(WantedBlock block)
    {
        running.put(block.index, block);
    }

    /**
     * Removes a block that is being fetched.
     *
     * @return whether a request for this instance was in progress
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
     * Queues a block after its pause, unless its waiters have abandoned it.
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
     * Removes and returns all blocks for which no request is in progress.
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
