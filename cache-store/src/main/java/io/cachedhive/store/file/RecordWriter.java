package io.cachedhive.store.file;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Writes the fields of a record of a {@link RecordHeap}: numbers as varints of 7 bits per byte, texts with their length
 * first.
 */
final class RecordWriter
{
    private byte[] bytes = new byte[128];
    private int length;

    void putNumber(long value)
    {
        long left = value;
        while ((left & ~0x7FL) != 0) {
            putByte((byte) (left | 0x80));
            left >>>= 7;
        }
        putByte((byte) left);
    }

    static long getNumber(ByteBuffer record)
    {
        long value = 0;
        int shift = 0;
        byte next;
        do {
            next = record.get();
            value |= (long) (next & 0x7F) << shift;
            shift += 7;
        }
        while (next < 0);
        return value;
    }

    void putBytes(ByteBuffer source)
    {
        int count = source.remaining();
        putNumber(count);
        ensure(count);
        source.get(source.position(), bytes, length, count);
        length += count;
    }

    /**
     * @return a view of the bytes; the position of the record moves past them
     */
    static ByteBuffer getBytes(ByteBuffer record)
    {
        return getRest(record, (int) getNumber(record));
    }

    /**
     * Appends bytes without their length.
     */
    void putRest(byte[] source)
    {
        ensure(source.length);
        System.arraycopy(source, 0, bytes, length, source.length);
        length += source.length;
    }

    /**
     * Appends the remaining bytes of the buffer without their length.
     */
    void putRest(ByteBuffer source)
    {
        int count = source.remaining();
        ensure(count);
        source.get(bytes, length, count);
        length += count;
    }

    void clear()
    {
        length = 0;
    }

    static ByteBuffer getRest(ByteBuffer record, int count)
    {
        ByteBuffer view = record.slice(record.position(), count);
        record.position(record.position() + count);
        return view;
    }

    private void putByte(byte value)
    {
        ensure(1);
        bytes[length] = value;
        length++;
    }

    private void ensure(int count)
    {
        if (bytes.length - length < count) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + count));
        }
    }

    byte[] bytes()
    {
        return bytes;
    }

    int length()
    {
        return length;
    }
}
