package io.cachedhive.transport;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import static org.assertj.core.api.Assertions.assertThat;

class TestIoLoop
{
    private final Queue<Selector> opened = new ConcurrentLinkedQueue<>();
    private final List<Pipe> pipes = new ArrayList<>();
    private int failures;
    private final IoLoop loop = new IoLoop("test-io-loop", this::open);

    private synchronized Selector open()
            throws IOException
    {
        if (failures > 0) {
            failures--;
            throw new IOException("too many open files");
        }
        Selector selector = Selector.open();
        opened.add(selector);
        return selector;
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        loop.close();
        assertThat(loop.isTerminated()).isTrue();
        assertThat(opened).noneMatch(Selector::isOpen);
        for (Pipe pipe : pipes) {
            pipe.sink().close();
            pipe.source().close();
        }
    }

    @Test
    void testErrorOfHandler()
            throws Exception
    {
        Handler first = new Handler(new OutOfMemoryError("planted"));
        Handler second = new Handler(null);
        Pipe failing = register(first);
        register(second);
        write(failing);
        // both belong to the selector that is given up
        assertThat(first.lost().getMessage()).isEqualTo("planted");
        assertThat(second.lost().getMessage()).isEqualTo("planted");

        Handler next = new Handler(null);
        write(register(next));
        next.ready.await();
    }

    @Test
    void testErrorOfTask()
            throws Exception
    {
        Handler handler = new Handler(null);
        Pipe pipe = register(handler);
        loop.execute(() -> {
            throw new StackOverflowError("planted");
        });
        write(pipe);
        handler.ready.await();
        assertThat(opened).hasSize(1);
    }

    @Test
    void testSelectorThatCannotBeOpened()
            throws Exception
    {
        synchronized (this) {
            failures = 3;
        }
        opened.element().close();
        Handler handler = new Handler(null);
        // tasks wait for the next selector
        write(registerOnceOpen(handler));
        handler.ready.await();
        synchronized (this) {
            assertThat(failures).isZero();
        }
        assertThat(opened).hasSize(2);
    }

    @Test
    void testTasksOfFailingLoop()
            throws Exception
    {
        for (int i = 0; i < 20; i++) {
            write(register(new Handler(new OutOfMemoryError("planted"))));
            FutureTask<String> task = new FutureTask<>(() -> "run");
            loop.execute(task);
            assertThat(task.get()).isEqualTo("run");
        }
    }

    /** The loop may lose the selector right after its closing, and before the registration. */
    private Pipe registerOnceOpen(Handler handler)
            throws Exception
    {
        while (true) {
            try {
                return register(handler);
            }
            catch (ExecutionException e) {
                assertThat(e.getCause()).isInstanceOf(ClosedSelectorException.class);
            }
        }
    }

    private Pipe register(Handler handler)
            throws Exception
    {
        Pipe pipe = Pipe.open();
        pipes.add(pipe);
        pipe.source().configureBlocking(false);
        FutureTask<SelectionKey> registration = new FutureTask<>(() -> loop.register(pipe.source(), SelectionKey.OP_READ, handler));
        loop.execute(registration);
        registration.get();
        return pipe;
    }

    private static void write(Pipe pipe)
            throws IOException
    {
        pipe.sink().write(ByteBuffer.wrap(new byte[] {1}));
    }

    private static class Handler
            implements IoLoop.ChannelHandler
    {
        private final Error failure;
        private final CountDownLatch ready = new CountDownLatch(1);
        private final FutureTask<Void> lost = new FutureTask<>(() -> null);
        private volatile Throwable cause;

        Handler(Error failure)
        {
            this.failure = failure;
        }

        @Override
        public void ready(SelectionKey key)
        {
            key.interestOps(0);
            ready.countDown();
            if (failure != null) {
                throw failure;
            }
        }

        @Override
        public void lost(Throwable cause)
        {
            this.cause = cause;
            lost.run();
        }

        Throwable lost()
                throws Exception
        {
            lost.get();
            return cause;
        }
    }
}
