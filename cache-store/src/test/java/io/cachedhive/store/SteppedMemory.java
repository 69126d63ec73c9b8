package io.cachedhive.store;

import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.MemoryAllocator;
import io.cachedhive.testing.Await;

import java.nio.file.Path;
import java.util.concurrent.Semaphore;

/**
 * Allocates memory in small steps. The part with which a file starts is allocated at once. Each further step waits until the test permits it, and fails if the test
 * requires it.
 */
final class SteppedMemory
        implements MemoryAllocator, AutoCloseable
{
    static final long FIRST_BYTES = 1 << 20;
    static final long STEP_BYTES = 512 << 10;

    private static final int UNLIMITED = 1 << 20;
    // the index, the headers and the frames of the first slabs
    private static final int CALLS_OF_THE_START = 3;

    private final Semaphore permits = new Semaphore(0);
    private volatile int calls;
    private volatile int steps;
    private volatile boolean failing;
    private volatile boolean failingAtTheStart;

    @Override
    public void allocate(Path path, int descriptor, long offset, long length)
            throws DiskException
    {
        int call = calls;
        calls = call + 1;
        if (call < CALLS_OF_THE_START) {
            if (failingAtTheStart && call == CALLS_OF_THE_START - 1) {
                throw noSpace(path);
            }
        }
        else if (isHeaders(call)) {
            permits.acquireUninterruptibly();
        }
        else if (failing) {
            steps++;
            throw noSpace(path);
        }
        SYSTEM.allocate(path, descriptor, offset, length);
        if (call >= CALLS_OF_THE_START && !isHeaders(call)) {
            steps++;
        }
    }

    private static boolean isHeaders(int call)
    {
        return (call - CALLS_OF_THE_START) % 2 == 0;
    }

    private static DiskException noSpace(Path path)
    {
        return new DiskException(DiskException.Cause.NO_SPACE, "fallocate of %s failed: no space left on device".formatted(path));
    }

    @Override
    public long firstBytes()
    {
        return FIRST_BYTES;
    }

    @Override
    public long stepBytes()
    {
        return STEP_BYTES;
    }

    /**
     * Makes the frames of all further steps fail, after their headers were allocated.
     */
    void setFailing(boolean failing)
    {
        this.failing = failing;
    }

    void failAtTheStart()
    {
        failingAtTheStart = true;
    }

    /**
     * Permits one step and waits until the store has its frames. Does nothing if the store has all of its memory.
     */
    void step(BlockStore store)
    {
        if (isComplete(store)) {
            return;
        }
        awaitHeld();
        long before = store.ram().frameBytes();
        permits.release();
        Await.until("the store has another step of memory", () -> store.ram().frameBytes() > before);
    }

    /**
     * Permits one step, which fails, and waits until it did.
     */
    void failStep(BlockStore store)
    {
        if (isComplete(store)) {
            return;
        }
        awaitHeld();
        failing = true;
        int before = steps;
        permits.release();
        Await.until("a step failed", () -> steps > before && store.problem().isPresent());
        failing = false;
        store.ram().memoryFile().retryGrowth();
    }

    /**
     * Waits until further steps have failed. The thread has then done everything that follows the failures but the last.
     */
    void awaitFailures(BlockStore store, int count)
    {
        int before = steps;
        Await.until("steps failed", () -> {
            store.ram().memoryFile().retryGrowth();
            return steps >= before + count;
        });
    }

    void awaitHeld()
    {
        Await.until("a step waits", permits::hasQueuedThreads);
    }

    /**
     * Permits all further steps.
     */
    void permitAll()
    {
        permits.release(UNLIMITED);
    }

    /**
     * Permits all further steps, so that a store can be closed after a failed assertion. Close it before the store.
     */
    @Override
    public void close()
    {
        permitAll();
    }

    static boolean isComplete(BlockStore store)
    {
        return store.gauges().ramAllocatedBytes() == store.gauges().ramCapacityBytes();
    }
}
