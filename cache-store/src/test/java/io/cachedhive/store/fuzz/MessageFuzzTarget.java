package io.cachedhive.store.fuzz;

import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.WireException;

import java.nio.ByteBuffer;

/**
 * A frame as it comes from a peer. It is refused with a {@link WireException}, or is a message that is the same after it was sent again. It stands
 * here because journal and checkpoints are taken apart by the same reader.
 */
public final class MessageFuzzTarget
{
    private MessageFuzzTarget() {}

    public static void fuzzerTestOneInput(byte[] data)
    {
        if (data.length < FrameHeader.BYTES) {
            return;
        }
        ByteBuffer input = ByteBuffer.wrap(data);
        Message message;
        FrameHeader header;
        try {
            header = FrameHeader.readFrom(input, FrameHeader.MAX_BODY_BYTES);
            // the length is right more often than chance makes it
            message = Message.read(header.type(), input.slice(input.position(), input.remaining()));
        }
        catch (WireException e) {
            return;
        }
        ByteBuffer sent = message.toFrame(header.requestId());
        try {
            FrameHeader again = FrameHeader.readFrom(sent, Integer.MAX_VALUE);
            if (again.bodyLength() != sent.remaining() || again.type() != header.type() || again.requestId() != header.requestId()) {
                throw new AssertionError("%s became %s".formatted(header, again));
            }
            ByteBuffer twice = Message.read(again.type(), sent.duplicate()).toFrame(again.requestId());
            twice.position(FrameHeader.BYTES);
            if (!twice.equals(sent)) {
                throw new AssertionError("%s is another message after it was sent".formatted(message));
            }
        }
        catch (WireException e) {
            throw new AssertionError("%s cannot be read after it was sent: %s".formatted(message, e.getMessage()), e);
        }
    }
}
