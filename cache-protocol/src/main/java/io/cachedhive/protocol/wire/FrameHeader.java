package io.cachedhive.protocol.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header of every frame on the wire. All numbers are little-endian.
 *
 * <pre>
 *   0        4      5      6        8                16
 *   +--------+------+------+--------+----------------+------------------------+
 *   | body   | type | zero | zero   | request id     | body ...               |
 *   | length |      |      |        |                |                        |
 *   +--------+------+------+--------+----------------+------------------------+
 * </pre>
 *
 * @param bodyLength bytes after the header
 * @param requestId chosen by the client and repeated in every answer; 0 for messages that are not answered
 */
public record FrameHeader(int bodyLength, MessageType type, long requestId)
{
    public static final int BYTES = 16;

    /**
     * The largest body: one block of the maximum size and its description.
     */
    public static final int MAX_BODY_BYTES = (8 << 20) + (64 << 10);

    /**
     * The largest body that a receiver skips. A body between {@link #MAX_BODY_BYTES} and this limit fails its request
     * only; beyond this limit, the header itself is not trusted and the connection ends.
     */
    public static final int MAX_SKIPPED_BODY_BYTES = 64 << 20;

    /**
     * The largest body before the peer has authenticated. It bounds the memory that an unauthenticated peer can use.
     */
    public static final int MAX_HANDSHAKE_BODY_BYTES = 16 << 10;

    public void writeTo(ByteBuffer buffer)
    {
        buffer.order(ByteOrder.LITTLE_ENDIAN)
                .putInt(bodyLength)
                .put(type.code())
                .put((byte) 0)
                .putShort((short) 0)
                .putLong(requestId);
    }

    /**
     * Reads a header and checks it.
     *
     * @param maxBodyBytes the limit in the current state of the connection
     */
    public static FrameHeader readFrom(ByteBuffer buffer, int maxBodyBytes)
            throws WireException
    {
        buffer.order(ByteOrder.LITTLE_ENDIAN);
        int bodyLength = buffer.getInt();
        byte code = buffer.get();
        int reserved = buffer.get() | buffer.getShort();
        long requestId = buffer.getLong();
        MessageType type = MessageType.fromCode(code);
        if (reserved != 0) {
            throw new WireException("reserved bytes of a frame header are not zero: " + reserved);
        }
        if (bodyLength < 0 || bodyLength > maxBodyBytes) {
            throw new WireException("body of a %s frame is not between 0 and %s bytes: %s".formatted(type, maxBodyBytes, bodyLength));
        }
        return new FrameHeader(bodyLength, type, requestId);
    }
}
