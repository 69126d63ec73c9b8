package io.cachedhive.transport;

import io.airlift.log.Logger;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static java.util.Objects.requireNonNull;

/**
 * A thread that does all I/O of some connections. Nobody else touches their channels: an interrupt of a thread that reads or writes
 * a channel would close it for everybody.
 */
final class IoLoop
        implements Executor, AutoCloseable
{
    private static final Logger log = Logger.get(IoLoop.class);

    // small enough that bytes are still in the processor's cache when they are looked at
    private static final int PAYLOAD_BYTES = 128 << 10;

    // so that a selector that fails again and again does not take a whole processor
    private static final long RESTART_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Callable<Selector> selectors;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    private final Object lastTasks = new Object();
    private final ByteBuffer payloads = ByteBuffer.allocateDirect(PAYLOAD_BYTES);
    private volatile Selector selector;
    private volatile boolean closed;
    private volatile boolean terminated;

    IoLoop(String name)
    {
        this(name, Selector::open);
    }

    /**
     * @param selectors opens a selector: one at the start, and one more each time that the last one failed
     */
    IoLoop(String name, Callable<Selector> selectors)
    {
        this.selectors = requireNonNull(selectors, "selectors is null");
        try {
            selector = selectors.call();
        }
        catch (Exception e) {
            throw new IllegalStateException("cannot open a selector: " + e.getMessage(), e);
        }
        thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
        thread.start();
    }

    interface ChannelHandler
    {
        /**
         * On the loop's thread. Must not block. What it throws ends all connections of the loop.
         */
        void ready(SelectionKey key);

        /**
         * The channel is served no more, and has to be closed. On the loop's thread.
         */
        void lost(Throwable cause);
    }

    /**
     * Runs the task on the loop's thread; once that has ended, on the caller's.
     */
    @Override
    public void execute(Runnable task)
    {
        tasks.add(task);
        if (terminated) {
            runLastTasks();
        }
        else if (Thread.currentThread() != thread) {
            selector.wakeup();
        }
    }

    boolean isTerminated()
    {
        return terminated;
    }

    /**
     * On the loop's thread only.
     */
    SelectionKey register(SelectableChannel channel, int operations, ChannelHandler handler)
            throws IOException
    {
        return channel.register(selector, operations, handler);
    }

    /**
     * A place for bytes that are taken before anything else is read. On the loop's thread only.
     */
    ByteBuffer payloads(int limit)
    {
        return payloads.clear().limit(Math.min(limit, PAYLOAD_BYTES));
    }

    private void run()
    {
        try {
            while (!closed) {
                try {
                    selector.select(key -> ((ChannelHandler) key.attachment()).ready(key));
                    runTasks();
                }
                catch (Throwable e) {
                    restart(e);
                }
            }
        }
        finally {
            closeSelector();
            terminated = true;
            runLastTasks();
        }
    }

    /**
     * Ends all connections, which are opened again when they are needed, and goes on with a new selector. Without this thread, the client would read from
     * no cache worker until its process is restarted.
     */
    private void restart(Throwable cause)
    {
        try {
            log.error(cause, "thread %s failed: its connections are closed, and it starts again", Thread.currentThread().getName());
            if (selector.isOpen()) {
                for (SelectionKey key : List.copyOf(selector.keys())) {
                    lose(key, cause);
                }
            }
            closeSelector();
            LockSupport.parkNanos(RESTART_PAUSE_NANOS);
            selector = selectors.call();
            // whoever added one of them may have woken up the old selector
            runTasks();
        }
        catch (Throwable e) {
            // the next turn fails because the selector is closed, and tries again
            log.debug(e, "cannot open a selector");
        }
    }

    private static void lose(SelectionKey key, Throwable cause)
    {
        try {
            ((ChannelHandler) key.attachment()).lost(cause);
        }
        catch (Throwable e) {
            log.error(e, "a connection was not closed");
        }
    }

    private void closeSelector()
    {
        try {
            selector.close();
        }
        catch (IOException e) {
            log.debug(e, "closing a selector");
        }
    }

    private void runTasks()
    {
        Runnable task;
        while ((task = tasks.poll()) != null) {
            try {
                task.run();
            }
            catch (RuntimeException | Error e) {
                // a task ends its own connection when it fails, and concerns no other
                log.error(e, "task of %s failed", Thread.currentThread().getName());
            }
        }
    }

    private void runLastTasks()
    {
        synchronized (lastTasks) {
            runTasks();
        }
    }

    /**
     * Waits for the thread to end. Tasks that were handed over before are still run.
     */
    @Override
    public void close()
    {
        closed = true;
        selector.wakeup();
        boolean interrupted = false;
        while (thread.isAlive() && Thread.currentThread() != thread) {
            try {
                thread.join();
            }
            catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
