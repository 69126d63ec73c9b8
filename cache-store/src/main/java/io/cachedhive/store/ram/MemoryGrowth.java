package io.cachedhive.store.ram;

import io.airlift.log.Logger;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.store.block.ByteSize;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.MemoryAllocator;

import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;

import static java.util.Objects.requireNonNull;

/**
 * Allocates a shared-memory file in steps while the file is in use, and moves it into huge pages.
 *
 * <p>The file has its final size from the start, and every mapping covers it. The header page, the ring slots and the
 * index are allocated before the file is used, because readers look up any block there. A step allocates some slabs:
 * first their frame headers, then their frames. Frames exist only in slabs that are allocated, so neither an index
 * entry nor a reply of the cache worker names memory without a page behind it. An access to such memory would allocate
 * it, or end in SIGBUS if the file system is full.
 *
 * <p>If a step fails, the file keeps its slabs, and {@link #retry} starts the next attempt.
 */
final class MemoryGrowth
{
    private static final Logger log = Logger.get(MemoryGrowth.class);

    private final Path path;
    private final int descriptor;
    private final MemoryLayout layout;
    private final MemoryAllocator allocator;
    private final LeftMemory left;
    private final HugePages hugePages;
    private final Semaphore retries = new Semaphore(0);

    private volatile int slabCount;
    private volatile Optional<String> problem = Optional.empty();
    private volatile boolean stopped;
    private volatile Thread thread;

    /**
     * @param left freed before the file grows, so that this host does not hold the memory of two runs
     */
    MemoryGrowth(Path path, int descriptor, MemoryLayout layout, MemoryAllocator allocator, LeftMemory left)
    {
        this.path = requireNonNull(path, "path is null");
        this.descriptor = descriptor;
        this.layout = requireNonNull(layout, "layout is null");
        this.allocator = requireNonNull(allocator, "allocator is null");
        this.left = requireNonNull(left, "left is null");
        this.hugePages = new HugePages(path, descriptor, layout.fileSizeBytes());
    }

    /**
     * Returns the size of the part of a file that has to exist before the file is used.
     */
    static long firstBytes(MemoryLayout layout, MemoryAllocator allocator)
    {
        return layout.headersOffset() + firstSlabs(layout, allocator) * (layout.slabHeadersBytes() + layout.slabBytes());
    }

    private static long firstSlabs(MemoryLayout layout, MemoryAllocator allocator)
    {
        return Math.max(1, allocator.firstBytes() / layout.slabBytes());
    }

    /**
     * Allocates the part of the file that has to exist before the file is used.
     */
    void allocateFirst()
            throws DiskException
    {
        allocator.allocate(path, descriptor, 0, layout.headersOffset());
        allocateSlabs(firstSlabs(layout, allocator));
    }

    private void allocateSlabs(long count)
            throws DiskException
    {
        int first = slabCount;
        int added = (int) Math.min(count, layout.slabCount() - first);
        allocator.allocate(path, descriptor, layout.slabHeadersOffset(first), added * layout.slabHeadersBytes());
        allocator.allocate(path, descriptor, layout.slabOffset(first), added * layout.slabBytes());
        slabCount = first + added;
    }

    /**
     * Starts to allocate the rest of the file, on a thread that {@link #stop} ends.
     *
     * @param grown called after each step, with the new slabs in {@link #slabCount}
     */
    void start(ThreadFactory threads, Runnable grown)
    {
        thread = threads.newThread(() -> run(grown));
        thread.start();
    }

    private void run(Runnable grown)
    {
        try {
            while (!stopped) {
                grow(grown);
                // only now, because a collapse takes much longer than an allocation
                hugePages.collapse(this::isAllocated);
                if (isComplete() && problem.isEmpty()) {
                    return;
                }
                retries.acquireUninterruptibly();
                retries.drainPermits();
            }
        }
        catch (RuntimeException | Error e) {
            log.error(e, "%s does not grow any more", path);
            problem = Optional.of(problem("unexpected error " + e));
        }
    }

    private void grow(Runnable grown)
    {
        try {
            while (!stopped && left.freeStep()) {
                // until nothing is left
            }
            while (!stopped && !isComplete()) {
                allocateSlabs(Math.max(1, allocator.stepBytes() / layout.slabBytes()));
                grown.run();
            }
        }
        catch (DiskException | StoreException e) {
            if (problem.isEmpty()) {
                log.warn("%s", problem(e.getMessage()));
            }
            problem = Optional.of(problem(e.getMessage()));
            return;
        }
        if (isComplete() && problem.isPresent()) {
            problem = Optional.empty();
            log.info("The RAM tier has all of its %s", ByteSize.format(layout.fileSizeBytes()));
        }
    }

    private String problem(String reason)
    {
        return "the RAM tier has %s of the %s of cache.ram.max-size (%s): free memory on this host and in %s, or reduce cache.ram.max-size".formatted(
                ByteSize.format(allocatedBytes()),
                ByteSize.format(layout.fileSizeBytes()),
                reason,
                path.getParent());
    }

    /**
     * Returns whether a range of the file is allocated.
     */
    private boolean isAllocated(long offset, long length)
    {
        int slabs = slabCount;
        return slabs == layout.slabCount()
                || offset + length <= layout.slabHeadersOffset(slabs)
                || (offset >= layout.framesOffset() && offset + length <= layout.slabOffset(slabs));
    }

    private boolean isComplete()
    {
        return slabCount == layout.slabCount();
    }

    /**
     * Starts another attempt if the last one failed.
     */
    void retry()
    {
        retries.release();
    }

    /**
     * Stops after the current step and waits for it.
     */
    void stop()
    {
        stopped = true;
        hugePages.stop();
        retries.release();
        await();
    }

    /**
     * Waits for the end of the thread.
     */
    void await()
    {
        Thread started = thread;
        boolean interrupted = false;
        while (started != null && started.isAlive()) {
            try {
                started.join();
            }
            catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Returns the number of allocated slabs, which are the first of the file.
     */
    int slabCount()
    {
        return slabCount;
    }

    long allocatedBytes()
    {
        return layout.headersOffset() + slabCount * (layout.slabHeadersBytes() + layout.slabBytes());
    }

    /**
     * Returns why the file does not grow, and the fix; empty if it grows or has its full size.
     */
    Optional<String> problem()
    {
        return problem;
    }

    LeftMemory left()
    {
        return left;
    }

    HugePages hugePages()
    {
        return hugePages;
    }
}
