package io.cachedhive.store.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * An open file. Thread-safe; an interrupt of one thread does not affect the other threads.
 */
public interface DiskFile
        extends Closeable
{
    int ALIGNMENT_BYTES = 4096;

    /**
     * Reads until the buffer is full or the file ends.
     *
     * @param target a direct buffer
     * @return bytes read
     */
    int read(long position, ByteBuffer target)
            throws IOException;

    /**
     * Reads into the buffers in order, until all are full or the file ends.
     *
     * @param targets direct buffers
     * @return bytes read
     */
    default int read(long position, List<ByteBuffer> targets)
            throws IOException
    {
        int total = 0;
        for (ByteBuffer target : targets) {
            int wanted = target.remaining();
            int count = read(position + total, target);
            total += count;
            if (count < wanted) {
                break;
            }
        }
        return total;
    }

    /**
     * Writes all of the buffer.
     *
     * @param source a direct buffer
     */
    void write(long position, ByteBuffer source)
            throws IOException;

    /**
     * Writes all of the buffers, one after the other.
     *
     * @param sources direct buffers
     */
    default void write(long position, List<ByteBuffer> sources)
            throws IOException
    {
        long next = position;
        for (ByteBuffer source : sources) {
            int bytes = source.remaining();
            write(next, source);
            next += bytes;
        }
    }

    /**
     * Makes all completed writes durable.
     */
    void sync()
            throws IOException;

    /**
     * Sets the exact size of the file and allocates all of its space.
     */
    void allocate(long sizeBytes)
            throws IOException;

    long size()
            throws IOException;
}
