package io.cachedhive.client;

import io.cachedhive.protocol.file.FileVersion;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An origin on the heap that remembers what it was asked.
 */
final class TestingInput
        implements OriginInput
{
    private final List<Read> reads = new CopyOnWriteArrayList<>();
    private final AtomicInteger stateRequests = new AtomicInteger();
    private volatile byte[] bytes;
    private volatile FileState state;
    private volatile IOException failure;
    private volatile CountDownLatch gate = new CountDownLatch(0);

    TestingInput(FileVersion version, byte[] bytes)
    {
        this.bytes = bytes;
        this.state = new FileState(version.length(), version.lastModifiedMillis());
    }

    record Read(long position, int length) {}

    List<Read> reads()
    {
        return reads;
    }

    long readBytes()
    {
        return reads.stream().mapToLong(Read::length).sum();
    }

    int stateRequests()
    {
        return stateRequests.get();
    }

    void replace(byte[] bytes, FileState state)
    {
        this.bytes = bytes;
        this.state = state;
    }

    void fail(IOException failure)
    {
        this.failure = failure;
    }

    /**
     * Reads wait until it is open.
     */
    void setGate(CountDownLatch gate)
    {
        this.gate = gate;
    }

    @Override
    public void readFully(long position, byte[] buffer, int offset, int length)
            throws IOException
    {
        reads.add(new Read(position, length));
        try {
            gate.await();
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        if (failure != null) {
            throw failure;
        }
        System.arraycopy(bytes, (int) position, buffer, offset, length);
    }

    @Override
    public FileState current()
            throws IOException
    {
        stateRequests.incrementAndGet();
        if (failure != null) {
            throw failure;
        }
        return state;
    }
}
