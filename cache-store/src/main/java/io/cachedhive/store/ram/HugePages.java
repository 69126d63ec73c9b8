package io.cachedhive.store.ram;

import io.airlift.log.Logger;
import io.cachedhive.store.block.ByteSize;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.Posix;

import java.nio.file.Path;
import java.util.concurrent.ThreadFactory;

import static java.util.Objects.requireNonNull;

/**
 * Moves the shared memory into huge pages of 2 MiB, while it is in use. A copy out of pages of 4 KiB spends a third of its time on looking up
 * where they are; tmpfs gives nothing else unless it was mounted for it, which few hosts do. The system is therefore asked for each
 * piece by madvise(2) with MADV_COLLAPSE, which needs no rights and no setting, and which clients that have mapped the file profit from as well.
 *
 * <p>It takes some milliseconds for each piece, so a thread of its own does it. Where it fails, small pages stay: nothing depends on it. The same
 * amount of memory is used, but for one piece more while it is moved.
 */
final class HugePages
{
    static final long PIECE_BYTES = 2L << 20;

    private static final Logger log = Logger.get(HugePages.class);

    // memory that is too fragmented, or used up to its limit, does not get better within seconds
    private static final int MAX_FAILURES_IN_A_ROW = 16;

    private final Path path;
    private final int descriptor;
    private final long bytes;
    private volatile boolean stopped;
    private volatile long collapsedBytes;
    private volatile Thread thread;

    /**
     * @param bytes of the file; the rest of it that does not fill a piece keeps its small pages
     */
    HugePages(Path path, int descriptor, long bytes)
    {
        this.path = requireNonNull(path, "path is null");
        this.descriptor = descriptor;
        this.bytes = bytes;
    }

    void start(ThreadFactory threads)
    {
        thread = threads.newThread(this::collapseAll);
        thread.start();
    }

    /**
     * Returns when nothing of the file is touched any more: within a piece.
     */
    void stop()
    {
        stopped = true;
        await();
    }

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

    long collapsedBytes()
    {
        return collapsedBytes;
    }

    private void collapseAll()
    {
        try {
            // room for a piece at a multiple of its size, as huge pages need it
            long reserved = Posix.reserveAddresses(path, 2 * PIECE_BYTES);
            try {
                collapseAll((reserved + PIECE_BYTES - 1) & -PIECE_BYTES);
            }
            finally {
                Posix.unmap(path, reserved, 2 * PIECE_BYTES);
            }
        }
        catch (DiskException | RuntimeException e) {
            log.warn(e, "Huge pages for %s given up: reads of it take longer", path);
        }
    }

    private void collapseAll(long address)
            throws DiskException
    {
        int failures = 0;
        for (long offset = 0; offset + PIECE_BYTES <= bytes && !stopped; offset += PIECE_BYTES) {
            Posix.mapAt(path, descriptor, address, offset, PIECE_BYTES);
            try {
                Posix.collapse(path, address, PIECE_BYTES);
                collapsedBytes += PIECE_BYTES;
                failures = 0;
            }
            catch (DiskException e) {
                failures++;
                if (e.reason() == DiskException.Cause.NOT_SUPPORTED || failures == MAX_FAILURES_IN_A_ROW) {
                    log.info("%s of %s are in huge pages, no more can be (%s): reads of the rest take longer", ByteSize.format(collapsedBytes), path, e.getMessage());
                    return;
                }
            }
        }
        if (!stopped) {
            log.info("%s of %s are in huge pages", ByteSize.format(collapsedBytes), path);
        }
    }
}
