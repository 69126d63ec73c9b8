package io.cachedhive.store.block;

import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.store.disk.MemoryAllocator;

import java.security.SecureRandom;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

import static java.util.Objects.requireNonNull;

/**
 * The environment of a store: clock, disks, threads and randomness. Tests use it to simulate power failures, move the
 * clock and replay seeds.
 *
 * @param disk for the SSD tier and the state directory; the files of shared memory are always this machine's
 * @param threads for the heartbeat and each SSD directory's tasks; the store stops its threads when it is closed
 * @param random for the ids of stores and runs
 * @param ssdFormat versions of the SSD files to read and write
 * @param memory allocates the shared memory
 * @param locks returns the lock of a store; a test counts the work done under it
 */
public record StoreEnvironment(
        StoreClock clock,
        Disk disk,
        ThreadFactory threads,
        RandomGenerator random,
        SsdFormat ssdFormat,
        MemoryAllocator memory,
        Supplier<ReentrantLock> locks)
{
    public StoreEnvironment
    {
        requireNonNull(clock, "clock is null");
        requireNonNull(disk, "disk is null");
        requireNonNull(threads, "threads is null");
        requireNonNull(random, "random is null");
        requireNonNull(ssdFormat, "ssdFormat is null");
        requireNonNull(memory, "memory is null");
        requireNonNull(locks, "locks is null");
    }

    /**
     * Returns the environment of this machine.
     */
    public static StoreEnvironment system()
    {
        return new StoreEnvironment(
                StoreClock.SYSTEM,
                new LocalDisk(),
                Thread.ofPlatform().daemon().name("store-", 0).factory(),
                new SecureRandom(),
                SsdFormat.CURRENT,
                MemoryAllocator.SYSTEM,
                ReentrantLock::new);
    }

    public StoreEnvironment withClock(StoreClock clock)
    {
        return new StoreEnvironment(clock, disk, threads, random, ssdFormat, memory, locks);
    }

    public StoreEnvironment withDisk(Disk disk)
    {
        return new StoreEnvironment(clock, disk, threads, random, ssdFormat, memory, locks);
    }

    public StoreEnvironment withRandom(RandomGenerator random)
    {
        return new StoreEnvironment(clock, disk, threads, random, ssdFormat, memory, locks);
    }

    /**
     * @param locks returns the lock of a store
     */
    public StoreEnvironment withLocks(Supplier<ReentrantLock> locks)
    {
        return new StoreEnvironment(clock, disk, threads, random, ssdFormat, memory, locks);
    }

    /**
     * Returns an environment that acts as a release with other format versions.
     */
    public StoreEnvironment withSsdFormat(SsdFormat ssdFormat)
    {
        return new StoreEnvironment(clock, disk, threads, random, ssdFormat, memory, locks);
    }

    public StoreEnvironment withMemory(MemoryAllocator memory)
    {
        return new StoreEnvironment(clock, disk, threads, random, ssdFormat, memory, locks);
    }
}
