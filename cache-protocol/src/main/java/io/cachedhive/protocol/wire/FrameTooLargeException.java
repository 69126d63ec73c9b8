package io.cachedhive.protocol.wire;

/**
 * Thrown when a message does not fit into a frame. Nothing was sent, and the connection is still usable.
 */
public final class FrameTooLargeException
        extends RuntimeException
{
    public FrameTooLargeException(MessageType type, int bodyLength)
    {
        super("%s message has %s bytes, and a frame has at most %s".formatted(type, bodyLength, FrameHeader.MAX_BODY_BYTES));
    }
}
