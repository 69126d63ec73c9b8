package io.cachedhive.client;

import io.cachedhive.protocol.file.FileVersion;

import java.io.EOFException;
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
    private volatile IOException stateFailure;
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
     * @param failure of requests for the state; null for none
     */
    void failState(IOException failure)
    {
        stateFailure = failure;
    }

    /**
     * What one request would read of the whole file now.
     */
    byte[] snapshot()
    {
        return bytes;
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
        if (position > bytes.length - length) {
            throw new EOFException("%s bytes at %s of %s".formatted(length, position, bytes.length));
        }
        System.arraycopy(bytes, (int) position, buffer, offset, length);
    }

    @Override
    public int readTail(byte[] buffer, int offset, int maxLength)
            throws IOException
    {
        int length = Math.min(bytes.length, maxLength);
        readFully(bytes.length - length, buffer, offset, length);
        return length;
    }

    @Override
    public FileState current()
            throws IOException
    {
        stateRequests.incrementAndGet();
        if (failure != null) {
            throw failure;
        }
        if (stateFailure != null) {
            throw stateFailure;
        }
        return state;
    }
}
