package io.cachedhive.store.ssd;

import io.cachedhive.store.block.StoreClock;

import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * The shared parts of an open SSD directory.
 *
 * @param opened its files
 * @param contents its blocks, in memory
 * @param health state of its disk
 * @param lock the store's lock
 */
record DirectoryContext(
        Path path,
        Geometry geometry,
        DirectoryFiles opened,
        DirectoryContents contents,
        DirectoryHealth health,
        ReentrantLock lock,
        StoreClock clock)
{
    DirectoryContext
    {
        requireNonNull(path, "path is null");
        requireNonNull(geometry, "geometry is null");
        requireNonNull(opened, "opened is null");
        requireNonNull(contents, "contents is null");
        requireNonNull(health, "health is null");
        requireNonNull(lock, "lock is null");
        requireNonNull(clock, "clock is null");
    }
}
