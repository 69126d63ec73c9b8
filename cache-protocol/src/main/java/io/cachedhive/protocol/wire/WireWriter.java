package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Encodes the body of a message, little-endian. The buffer grows as needed.
 */
public final class WireWriter
{
    private ByteBuffer buffer;

    public WireWriter(int expectedBytes)
    {
        buffer = ByteBuffer.allocate(expectedBytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private ByteBuffer ensure(int bytes)
    {
        if (buffer.remaining() < bytes) {
            ByteBuffer larger = ByteBuffer.allocate(Math.max(buffer.capacity() * 2, buffer.position() + bytes)).order(ByteOrder.LITTLE_ENDIAN);
            larger.put(buffer.flip());
            buffer = larger;
        }
        return buffer;
    }

    public WireWriter putByte(int value)
    {
        ensure(1).put((byte) value);
        return this;
    }

    public WireWriter putBoolean(boolean value)
    {
        return putByte(value ? 1 : 0);
    }

    public WireWriter putInt(int value)
    {
        ensure(4).putInt(value);
        return this;
    }

    public WireWriter putLong(long value)
    {
        ensure(8).putLong(value);
        return this;
    }

    public WireWriter putDouble(double value)
    {
        ensure(8).putDouble(value);
        return this;
    }

    public WireWriter putBytes(byte[] bytes)
    {
        putInt(bytes.length);
        ensure(bytes.length).put(bytes);
        return this;
    }

    /**
     * Writes a payload at the end of a message, without a length. The position of the payload does not change.
     */
    public WireWriter putRest(ByteBuffer payload)
    {
        ensure(payload.remaining()).put(payload.duplicate());
        return this;
    }

    public WireWriter putString(String value)
    {
        return putBytes(value.getBytes(UTF_8));
    }

    public WireWriter putDigest(Digest128 value)
    {
        return putLong(value.high()).putLong(value.low());
    }

    public WireWriter putFile(FileVersion file)
    {
        return putDigest(file.origin().digest()).putString(file.location()).putLong(file.length()).putLong(file.lastModifiedMillis());
    }

    public WireWriter putOptionalString(Optional<String> value)
    {
        putBoolean(value.isPresent());
        value.ifPresent(this::putString);
        return this;
    }

    public <T> WireWriter putList(Collection<T> values, BiConsumer<WireWriter, T> element)
    {
        putInt(values.size());
        for (T value : values) {
            element.accept(this, value);
        }
        return this;
    }

    public WireWriter putCounters(Map<String, Long> values)
    {
        return putList(values.entrySet(), (writer, entry) -> writer.putString(entry.getKey()).putLong(entry.getValue()));
    }

    public int length()
    {
        return buffer.position();
    }

    /**
     * Returns the body as a view. Nothing may be written afterwards.
     */
    public ByteBuffer finish()
    {
        return buffer.flip();
    }

    /**
     * Resets the writer and reuses its memory, which overwrites the result of {@link #finish}.
     */
    public void clear()
    {
        buffer.clear();
    }
}
