package io.cachedhive.transport;

import io.airlift.log.Logger;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;

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

    private final Selector selector;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    private final Object lastTasks = new Object();
    private final ByteBuffer payloads = ByteBuffer.allocateDirect(PAYLOAD_BYTES);
    private volatile boolean closed;
    private volatile boolean terminated;

    IoLoop(String name)
    {
        try {
            selector = Selector.open();
        }
        catch (IOException e) {
            throw new IllegalStateException("cannot open a selector: " + e.getMessage(), e);
        }
        thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
        thread.start();
    }

    interface ChannelHandler
    {
        /**
         * On the loop's thread. Must not block, nor throw.
         */
        void ready(SelectionKey key);
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
                selector.select(key -> ((ChannelHandler) key.attachment()).ready(key));
                runTasks();
            }
        }
        catch (Throwable e) {
            log.error(e, "thread %s ends: reads go to the origin", Thread.currentThread().getName());
        }
        finally {
            try {
                selector.close();
            }
            catch (IOException e) {
                log.debug(e, "closing a selector");
            }
            terminated = true;
            runLastTasks();
        }
    }

    private void runTasks()
    {
        Runnable task;
        while ((task = tasks.poll()) != null) {
            try {
                task.run();
            }
            catch (RuntimeException e) {
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
