package io.cachedhive.store.ram;

import io.airlift.log.Logger;
import io.cachedhive.store.block.ByteSize;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.Posix;

import java.nio.file.Path;
import java.util.BitSet;

import static java.util.Objects.requireNonNull;

/**
 * Moves the shared memory into huge pages of 2 MiB while it is in use. Copies out of 4 KiB pages spend a third of their
 * time on address translation, and few hosts mount tmpfs with huge pages. So this calls madvise(2) with MADV_COLLAPSE
 * for each piece, which needs no permissions or settings. Clients that have mapped the file benefit too.
 *
 * <p>A piece takes some milliseconds, so the thread of {@link MemoryGrowth} does it. On failure, the small pages stay. The memory usage
 * does not change, except for one extra piece during the move.
 */
final class HugePages
{
    static final long PIECE_BYTES = 2L << 20;

    private static final Logger log = Logger.get(HugePages.class);

    // fragmented or exhausted memory does not recover within seconds
    private static final int MAX_FAILURES_IN_A_ROW = 16;

    private final Path path;
    private final int descriptor;
    private final long bytes;
    // moved, or failed
    private final BitSet finished = new BitSet();
    private boolean givenUp;
    private volatile boolean stopped;
    private volatile long collapsedBytes;

    /**
     * @param bytes size of the file; a rest shorter than a piece keeps small pages
     */
    HugePages(Path path, int descriptor, long bytes)
    {
        this.path = requireNonNull(path, "path is null");
        this.descriptor = descriptor;
        this.bytes = bytes;
    }

    /**
     * Makes {@link #collapse} return after the current piece.
     */
    void stop()
    {
        stopped = true;
    }

    long collapsedBytes()
    {
        return collapsedBytes;
    }

    /**
     * Moves all pieces that are allocated and that no earlier call tried. Called by one thread.
     */
    void collapse(Allocated allocated)
    {
        if (givenUp || stopped) {
            return;
        }
        try {
            // includes a range aligned to the size of a piece, as huge pages require
            long reserved = Posix.reserveAddresses(path, 2 * PIECE_BYTES);
            try {
                collapse(allocated, (reserved + PIECE_BYTES - 1) & -PIECE_BYTES);
            }
            finally {
                Posix.unmap(path, reserved, 2 * PIECE_BYTES);
            }
        }
        catch (DiskException | RuntimeException e) {
            givenUp = true;
            log.warn(e, "Huge pages for %s given up: reads of it take longer", path);
        }
    }

    private void collapse(Allocated allocated, long address)
            throws DiskException
    {
        int failures = 0;
        for (long offset = 0; offset + PIECE_BYTES <= bytes && !stopped; offset += PIECE_BYTES) {
            int piece = (int) (offset / PIECE_BYTES);
            // a collapse would allocate the missing pages
            if (finished.get(piece) || !allocated.contains(offset, PIECE_BYTES)) {
                continue;
            }
            finished.set(piece);
            Posix.mapAt(path, descriptor, address, offset, PIECE_BYTES);
            try {
                Posix.collapse(path, address, PIECE_BYTES);
                collapsedBytes += PIECE_BYTES;
                failures = 0;
            }
            catch (DiskException e) {
                failures++;
                if (e.reason() == DiskException.Cause.NOT_SUPPORTED || failures == MAX_FAILURES_IN_A_ROW) {
                    givenUp = true;
                    log.info("%s of %s are in huge pages, no more can be (%s): reads of the rest take longer", ByteSize.format(collapsedBytes), path, e.getMessage());
                    return;
                }
            }
        }
        if (!stopped) {
            log.info("%s of %s are in huge pages", ByteSize.format(collapsedBytes), path);
        }
    }

    /**
     * The allocated part of a file.
     */
    interface Allocated
    {
        boolean contains(long offset, long length);
    }
}
