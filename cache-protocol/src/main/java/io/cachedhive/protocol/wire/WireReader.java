package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Collections.unmodifiableList;
import static java.util.Collections.unmodifiableMap;

/**
 * Decodes the body of a message. It checks every length against the remaining bytes before it allocates memory.
 */
public final class WireReader
{
    private final ByteBuffer buffer;

    /**
     * Reads from the buffer's position to its limit.
     */
    public WireReader(ByteBuffer buffer)
    {
        this.buffer = buffer.order(ByteOrder.LITTLE_ENDIAN);
    }

    @FunctionalInterface
    public interface Element<T>
    {
        T read(WireReader reader)
                throws WireException;
    }

    public int remaining()
    {
        return buffer.remaining();
    }

    private ByteBuffer require(int bytes)
            throws WireException
    {
        if (bytes < 0 || buffer.remaining() < bytes) {
            throw new WireException("message ends %s bytes before its time".formatted((long) bytes - buffer.remaining()));
        }
        return buffer;
    }

    public byte getByte()
            throws WireException
    {
        return require(1).get();
    }

    public boolean getBoolean()
            throws WireException
    {
        byte value = getByte();
        if (value != 0 && value != 1) {
            throw new WireException("boolean is neither 0 nor 1: " + value);
        }
        return value == 1;
    }

    public int getInt()
            throws WireException
    {
        return require(4).getInt();
    }

    public long getLong()
            throws WireException
    {
        return require(8).getLong();
    }

    public double getDouble()
            throws WireException
    {
        return require(8).getDouble();
    }

    public byte[] getBytes()
            throws WireException
    {
        int length = getInt();
        require(length);
        byte[] bytes = new byte[length];
        try {
            buffer.get(bytes);
        }
        catch (BufferUnderflowException e) {
            throw new WireException("message is truncated");
        }
        return bytes;
    }

    /**
     * Skips the value that {@link #getBytes} would read.
     */
    public void skipBytes()
            throws WireException
    {
        int length = getInt();
        buffer.position(require(length).position() + length);
    }

    public String getString()
            throws WireException
    {
        return new String(getBytes(), UTF_8);
    }

    public Digest128 getDigest()
            throws WireException
    {
        return new Digest128(getLong(), getLong());
    }

    public FileVersion getFile()
            throws WireException
    {
        return new FileVersion(new OriginId(getDigest()), getString(), getLong(), getLong());
    }

    public Optional<String> getOptionalString()
            throws WireException
    {
        return getBoolean() ? Optional.of(getString()) : Optional.empty();
    }

    public <T> List<T> getList(Element<T> element)
            throws WireException
    {
        int count = getInt();
        // an element has at least one byte, so the count cannot exceed the remaining bytes
        require(count);
        List<T> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            values.add(element.read(this));
        }
        return unmodifiableList(values);
    }

    /**
     * Reads a list of bounded length.
     *
     * @throws WireException before any element is read, if there are more than {@code maxCount}
     */
    public <T> List<T> getList(int maxCount, Element<T> element)
            throws WireException
    {
        int count = require(4).getInt(buffer.position());
        if (count > maxCount) {
            throw new WireException("list has %s elements, at most %s are allowed".formatted(count, maxCount));
        }
        return getList(element);
    }

    public Map<String, Long> getCounters()
            throws WireException
    {
        Map<String, Long> values = new LinkedHashMap<>();
        for (Map.Entry<String, Long> entry : getList(reader -> Map.entry(reader.getString(), reader.getLong()))) {
            values.put(entry.getKey(), entry.getValue());
        }
        return unmodifiableMap(values);
    }

    /**
     * Returns the remaining bytes as a view: the payload at the end of a message.
     */
    public ByteBuffer getRest()
    {
        ByteBuffer rest = buffer.slice();
        buffer.position(buffer.limit());
        return rest;
    }

    public void expectEnd()
            throws WireException
    {
        if (buffer.hasRemaining()) {
            throw new WireException("%s bytes after the end of a message".formatted(buffer.remaining()));
        }
    }
}
