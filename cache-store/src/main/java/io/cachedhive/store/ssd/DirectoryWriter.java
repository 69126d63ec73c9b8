package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.SsdRefusalCause;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ssd.SsdTier.Write;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import static com.google.common.base.Verify.verify;
import static io.cachedhive.store.block.SsdRefusalCause.NOT_ADMITTED;
import static io.cachedhive.store.block.SsdRefusalCause.NO_ROOM;
import static io.cachedhive.store.block.SsdRefusalCause.OUT_OF_SERVICE;
import static io.cachedhive.store.block.SsdRefusalCause.QUEUE_FULL;
import static java.util.Objects.requireNonNull;

/**
 * Writes offered blocks into one directory, in order, on its own thread. Rejects blocks that are not worth writing, and
 * all blocks while the queue is full or the directory is not writable. Offers blocks rejected by a full queue again
 * once it has space: a full table scan fills faster than an SSD writes, and the next scan may be much later.
 *
 * <p>Callers hold the store's lock, which guards all fields, unless a method specifies otherwise.
 */
final class DirectoryWriter
{
    private static final Logger log = Logger.get(DirectoryWriter.class);

    // a megabyte of memory; with more blocks, the first ones have usually left RAM by the time of the retry
    private static final int MAX_LATE = 1 << 14;
    // per acquisition of the lock, because readers wait for it
    private static final int LATE_AT_ONCE = 64;

    private final SsdDirectory directory;
    private final ReentrantLock lock;
    private final Condition changed;
    private final Condition idle;
    private final ArrayDeque<Write> writes = new ArrayDeque<>();
    private final Set<Digest128> digests = new HashSet<>();
    // blocks that found the queue full, for a retry while they are in RAM
    private final ArrayDeque<Digest128> late = new ArrayDeque<>();
    private final LateWrites lateWrites;
    private final long[] refused = new long[SsdRefusalCause.values().length];
    private long bytes;
    private boolean closed;
    // not guarded: set before any other thread can end it
    private Optional<Thread> thread = Optional.empty();

    /**
     * Source of the blocks that a full queue rejected. Called under the lock.
     */
    interface LateWrites
    {
        /**
         * Returns whether the writer's queue has space for retries.
         */
        boolean hasRoom(DirectoryWriter writer);

        /**
         * @return false if the block is no longer in RAM, true if it was {@link DirectoryWriter#offer offered}
         */
        boolean offer(DirectoryWriter writer, Digest128 digest);
    }

    /**
     * @param idle signalled when nothing is queued
     */
    DirectoryWriter(SsdDirectory directory, LateWrites lateWrites, ReentrantLock lock, Condition idle)
    {
        this.lateWrites = requireNonNull(lateWrites, "lateWrites is null");
        this.directory = requireNonNull(directory, "directory is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.idle = requireNonNull(idle, "idle is null");
        this.changed = lock.newCondition();
    }

    /**
     * May be called without the lock.
     */
    SsdDirectory directory()
    {
        return directory;
    }

    /**
     * Callers must not hold the lock.
     */
    void start(ThreadFactory threads)
    {
        Thread made = threads.newThread(this::writeAll);
        thread = Optional.of(made);
        made.start();
    }

    /**
     * Records a request for a block that is not in the directory. Call it exactly once per request.
     *
     * @param first whether the block just entered the cache; only then is a rejection counted
     * @return whether to {@link #offer} the block
     */
    boolean accepts(Digest128 digest, StoredFile file, int length, BlockClass blockClass, boolean first, long maxQueuedBytes)
    {
        if (digests.contains(digest)) {
            return false;
        }
        Optional<SsdRefusalCause> cause = reasonToRefuse(digest, file, length, blockClass, maxQueuedBytes);
        if (first && cause.isPresent()) {
            if (cause.get() == QUEUE_FULL) {
                late.add(digest);
            }
            if (cause.get() != QUEUE_FULL || (late.size() > MAX_LATE && late.poll() != null)) {
                countRefused(cause.get());
            }
        }
        return cause.isEmpty();
    }

    private Optional<SsdRefusalCause> reasonToRefuse(Digest128 digest, StoredFile file, int length, BlockClass blockClass, long maxQueuedBytes)
    {
        if (!directory.admits(digest, file, length, blockClass)) {
            return Optional.of(NOT_ADMITTED);
        }
        if (closed || !directory.isInService()) {
            return Optional.of(OUT_OF_SERVICE);
        }
        if (bytes + length > maxQueuedBytes) {
            return Optional.of(QUEUE_FULL);
        }
        return Optional.empty();
    }

    private void countRefused(SsdRefusalCause cause)
    {
        refused[cause.ordinal()]++;
    }

    /**
     * Queues a block that {@link #accepts} accepted.
     */
    void offer(Write write)
    {
        verify(digests.add(write.digest()), "block %s is being written already", write.digest());
        writes.add(write);
        bytes += write.length();
        changed.signal();
    }

    private void offerLate()
    {
        for (int examined = 0; examined < LATE_AT_ONCE && !late.isEmpty() && lateWrites.hasRoom(this); examined++) {
            Digest128 digest = late.remove();
            // a later request may have queued or written it
            if (!digests.contains(digest) && directory.find(digest).isEmpty() && !lateWrites.offer(this, digest)) {
                countRefused(QUEUE_FULL);
            }
        }
    }

    boolean isIdle()
    {
        return writes.isEmpty() && late.isEmpty();
    }

    long queuedBytes()
    {
        return bytes;
    }

    long refused(SsdRefusalCause cause)
    {
        return refused[cause.ordinal()];
    }

    /**
     * Rejects further blocks but still writes the queue.
     */
    void close()
    {
        closed = true;
        late.clear();
        changed.signalAll();
    }

    /**
     * Rejects further blocks and discards the queue, except the block being written.
     */
    void abandon()
    {
        close();
        Write writing = writes.peek();
        writes.clear();
        if (writing != null) {
            writes.add(writing);
        }
    }

    /**
     * Waits for a closed writer to end. Callers must not hold the lock.
     */
    void join(long millis)
            throws InterruptedException
    {
        if (thread.isPresent()) {
            thread.get().join(millis);
        }
    }

    private void writeAll()
    {
        ExtentBuffers buffers = directory.allocateBuffers();
        while (true) {
            Write write;
            lock.lock();
            try {
                offerLate();
                write = writes.peek();
                if (isIdle()) {
                    idle.signalAll();
                    if (closed) {
                        return;
                    }
                    changed.awaitUninterruptibly();
                }
            }
            finally {
                lock.unlock();
            }
            if (write == null) {
                LockYield.giveWay(lock);
                continue;
            }
            try {
                write(write, buffers);
            }
            catch (RuntimeException | Error e) {
                log.error(e, "A block could not be written to %s", directory.path());
            }
            finally {
                lock.lock();
                try {
                    writes.remove();
                    digests.remove(write.digest());
                    bytes -= write.length();
                    write.release().run();
                }
                finally {
                    lock.unlock();
                }
            }
        }
    }

    private void write(Write write, ExtentBuffers buffers)
    {
        SsdDirectory.Reservation reservation;
        lock.lock();
        try {
            if (write.file().isDropped()) {
                return;
            }
            if (directory.find(write.digest()).isPresent()) {
                // restored from the checkpoint after it was filled again
                directory.setClass(write.digest(), write.terms().get().blockClass());
                return;
            }
            if (!directory.isInService() || !directory.hasJournalRoom()) {
                countRefused(directory.isInService() ? QUEUE_FULL : OUT_OF_SERVICE);
                return;
            }
            Optional<SsdDirectory.Reservation> reserved = directory.reserve(write.file(), write.length(), write.terms().get().blockClass());
            if (reserved.isEmpty()) {
                countRefused(NO_ROOM);
                return;
            }
            reservation = reserved.get();
        }
        finally {
            lock.unlock();
        }
        boolean written = false;
        try {
            // from the frame, which does not change before its release
            directory.write(reservation, write.digest(), write.file().etagDigest(), write.payload(), write.checksum(), buffers);
            written = true;
        }
        catch (IOException e) {
            log.debug("Block %s is not kept in %s: %s", write.digest(), directory.path(), e.getMessage());
        }
        finally {
            finish(write, reservation, written);
        }
    }

    private void finish(Write write, SsdDirectory.Reservation reservation, boolean written)
    {
        lock.lock();
        try {
            if (written && !write.file().isDropped()) {
                directory.add(reservation, write.file(), write.digest(), write.length(), write.terms().get());
            }
            else {
                // bytes without an entry are as harmless as the remains of an evicted block
                directory.cancel(reservation);
            }
        }
        finally {
            lock.unlock();
        }
    }
}
