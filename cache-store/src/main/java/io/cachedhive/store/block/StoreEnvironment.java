package io.cachedhive.store.block;

import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.LocalDisk;

import java.security.SecureRandom;
import java.util.concurrent.ThreadFactory;
import java.util.random.RandomGenerator;

import static java.util.Objects.requireNonNull;

/**
 * Time, disks, threads and randomness, as the store is given them: tests cut the power, move the clock and replay seeds.
 *
 * @param disk under the SSD tier and the state directory; shared memory is always this machine's
 * @param threads for the heartbeat, and for the writer and the journal of each SSD directory; the store ends them when it is closed
 * @param random for the names of stores and runs
 * @param ssdFormat versions of the files on SSD that are read and written
 */
public record StoreEnvironment(StoreClock clock, Disk disk, ThreadFactory threads, RandomGenerator random, SsdFormat ssdFormat)
{
    public StoreEnvironment
    {
        requireNonNull(clock, "clock is null");
        requireNonNull(disk, "disk is null");
        requireNonNull(threads, "threads is null");
        requireNonNull(random, "random is null");
        requireNonNull(ssdFormat, "ssdFormat is null");
    }

    /**
     * The machine's own.
     */
    public static StoreEnvironment system()
    {
        return new StoreEnvironment(
                StoreClock.SYSTEM,
                new LocalDisk(),
                Thread.ofPlatform().daemon().name("store-", 0).factory(),
                new SecureRandom(),
                SsdFormat.CURRENT);
    }

    public StoreEnvironment withClock(StoreClock clock)
    {
        return new StoreEnvironment(clock, disk, threads, random, ssdFormat);
    }

    public StoreEnvironment withDisk(Disk disk)
    {
        return new StoreEnvironment(clock, disk, threads, random, ssdFormat);
    }

    public StoreEnvironment withRandom(RandomGenerator random)
    {
        return new StoreEnvironment(clock, disk, threads, random, ssdFormat);
    }

    /**
     * As a release with other versions.
     */
    public StoreEnvironment withSsdFormat(SsdFormat ssdFormat)
    {
        return new StoreEnvironment(clock, disk, threads, random, ssdFormat);
    }
}
