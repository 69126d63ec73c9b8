package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.store.ssd.DirectoryHealth.Part;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

import static io.cachedhive.store.ssd.DirectoryHealth.Part.INDEX;
import static io.cachedhive.store.ssd.DirectoryHealth.Part.SLAB_READS;
import static io.cachedhive.store.ssd.DirectoryHealth.Part.SLAB_WRITES;
import static java.util.Objects.requireNonNull;

/**
 * Reads, writes and syncs the disk of a directory and reports the results to {@link DirectoryHealth}. Callers must not
 * hold the store's lock.
 */
final class WatchedDisk
{
    private static final Logger log = Logger.get(WatchedDisk.class);

    private final Path directory;
    private final Geometry geometry;
    private final DirectoryFiles files;
    private final Journal journal;
    private final DirectoryHealth health;
    private final ReentrantLock lock;

    private interface DiskCall
    {
        void run()
                throws IOException;
    }

    WatchedDisk(DirectoryContext context, Journal journal)
    {
        this.directory = context.path();
        this.geometry = context.geometry();
        this.files = context.opened();
        this.journal = requireNonNull(journal, "journal is null");
        this.health = context.health();
        this.lock = context.lock();
    }

    /**
     * @param position offset in the slab
     */
    void write(int slab, long position, List<ByteBuffer> buffers)
            throws IOException
    {
        watched(SLAB_WRITES, () -> files.slabFile(geometry.slabFile(slab)).write(geometry.slabOffset(slab) + position, buffers));
    }

    /**
     * @param position offset in the slab
     */
    void read(int slab, long position, List<ByteBuffer> buffers)
            throws IOException
    {
        watched(SLAB_READS, () -> files.slabFile(geometry.slabFile(slab)).read(geometry.slabOffset(slab) + position, buffers));
    }

    private void watched(Part part, DiskCall call)
            throws IOException
    {
        DirectoryHealth.Operation operation = begin(part);
        Optional<IOException> failure = Optional.empty();
        boolean success = false;
        try {
            call.run();
            success = true;
        }
        catch (IOException e) {
            failure = Optional.of(e);
            throw e;
        }
        finally {
            lock.lock();
            try {
                if (success) {
                    health.succeeded(operation);
                }
                else {
                    health.ended(operation);
                    failure.ifPresent(e -> health.failed(part, e));
                }
            }
            finally {
                lock.unlock();
            }
        }
    }

    private DirectoryHealth.Operation begin(Part part)
    {
        lock.lock();
        try {
            return health.begin(part);
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Probes a disk with failed reads if it is time to.
     */
    void probe()
    {
        boolean wanted;
        lock.lock();
        try {
            wanted = health.needsReadProbe();
        }
        finally {
            lock.unlock();
        }
        if (wanted) {
            try {
                read(0, 0, List.of(AlignedBuffers.allocate(Geometry.UNIT_BYTES)));
            }
            catch (IOException e) {
                log.debug("SSD directory %s does not work yet: %s", directory, e.getMessage());
            }
        }
    }

    /**
     * Makes all appended records durable.
     *
     * @param seal whether to protect them against damage to a single place of the journal
     * @return false on failure
     */
    boolean flush(boolean seal)
    {
        DirectoryHealth.Operation operation = begin(INDEX);
        Optional<IOException> failure = Optional.empty();
        try {
            if (seal) {
                journal.flushAndSeal();
            }
            else {
                journal.flush();
            }
            return true;
        }
        catch (Journal.BrokenException e) {
            // the failure that broke it was counted
            return false;
        }
        catch (IOException e) {
            failure = Optional.of(e);
            return false;
        }
        finally {
            lock.lock();
            try {
                // success does not end a suspension: after a failure, only a checkpoint makes the journal usable again
                health.ended(operation);
                failure.ifPresent(e -> health.failed(INDEX, e));
            }
            finally {
                lock.unlock();
            }
        }
    }
}
