package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.ssd.SsdTier.Write;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * Writes blocks into one directory, in the order in which they were offered, by a thread of its own. What it is offered while its queue is full, or
 * while the directory takes nothing, it refuses.
 *
 * <p>Methods are called under the store's lock, which guards all fields, unless they say otherwise.
 */
final class DirectoryWriter
{
    private static final Logger log = Logger.get(DirectoryWriter.class);

    private final SsdDirectory directory;
    private final StagingBuffers staging;
    private final ReentrantLock lock;
    private final Condition changed;
    private final Condition idle;
    private final ArrayDeque<Write> writes = new ArrayDeque<>();
    private final Set<Digest128> digests = new HashSet<>();
    private long bytes;
    private long refused;
    private boolean closed;
    // not guarded: set before anybody can end it
    private Optional<Thread> thread = Optional.empty();

    /**
     * @param idle signalled when nothing is queued
     */
    DirectoryWriter(SsdDirectory directory, StagingBuffers staging, ReentrantLock lock, Condition idle)
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.staging = requireNonNull(staging, "staging is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.idle = requireNonNull(idle, "idle is null");
        this.changed = lock.newCondition();
    }

    /**
     * Without the lock.
     */
    SsdDirectory directory()
    {
        return directory;
    }

    /**
     * Without the lock.
     */
    void start(ThreadFactory threads)
    {
        Thread made = threads.newThread(this::writeAll);
        thread = Optional.of(made);
        made.start();
    }

    /**
     * @return whether {@code release} will be called
     */
    boolean offer(Write write, long maxQueuedBytes)
    {
        if (closed || !directory.isInService() || bytes + write.length() > maxQueuedBytes || !digests.add(write.digest())) {
            refused++;
            return false;
        }
        writes.add(write);
        bytes += write.length();
        changed.signal();
        return true;
    }

    boolean isIdle()
    {
        return writes.isEmpty();
    }

    long refused()
    {
        return refused;
    }

    /**
     * Takes nothing more; what is queued is written still.
     */
    void close()
    {
        closed = true;
        changed.signalAll();
    }

    /**
     * Takes nothing more, and forgets what is queued, but for what is being written.
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
     * Waits for the end of a closed one. Without the lock.
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
        ByteBuffer buffer = staging.allocateOne();
        while (true) {
            Write write;
            lock.lock();
            try {
                while (writes.isEmpty()) {
                    idle.signalAll();
                    if (closed) {
                        return;
                    }
                    changed.awaitUninterruptibly();
                }
                write = writes.peek();
            }
            finally {
                lock.unlock();
            }
            try {
                write(write, buffer);
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

    private void write(Write write, ByteBuffer buffer)
    {
        SsdDirectory.Reservation reservation;
        lock.lock();
        try {
            if (write.file().isDropped() || directory.find(write.digest()).isPresent()) {
                return;
            }
            Optional<SsdDirectory.Reservation> reserved = directory.isInService() ? directory.reserve(write.file(), write.length()) : Optional.empty();
            if (reserved.isEmpty()) {
                refused++;
                return;
            }
            reservation = reserved.get();
        }
        finally {
            lock.unlock();
        }
        boolean written = false;
        try {
            buffer.clear();
            MemorySegment.ofBuffer(buffer).copyFrom(write.payload());
            Extent.complete(buffer, write.digest(), reservation.sequence(), write.file().etagDigest(), write.length(), write.checksum(), directory.storeId());
            directory.write(reservation, buffer);
            written = true;
        }
        catch (IOException e) {
            log.debug("Block %s is not kept in %s: %s", write.digest(), directory.path(), e.getMessage());
        }
        finally {
            lock.lock();
            try {
                if (written && !write.file().isDropped()) {
                    directory.add(reservation, write.file(), write.digest(), write.length(), write.terms());
                }
                else {
                    directory.cancel(reservation);
                }
            }
            finally {
                lock.unlock();
            }
        }
    }
}
