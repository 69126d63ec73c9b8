package io.cachedhive.worker.server;

import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.FrameTooLargeException;
import io.cachedhive.protocol.wire.Message;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * An answer to send on a connection.
 */
public interface Outgoing
        extends AutoCloseable
{
    /**
     * Adds the bytes to send. Called when the answer is next in line; does not block.
     */
    void prepare(List<ByteBuffer> buffers);

    /**
     * Releases the answer. Called once, after it was sent or the connection ended, possibly without {@link #prepare}.
     */
    @Override
    void close();

    /**
     * An answer of one message. A message that does not fit into a frame is replaced by an error, which fails the
     * request and nothing else.
     */
    static Outgoing message(long requestId, Message message)
    {
        ByteBuffer frame = frame(requestId, message);
        return new Outgoing()
        {
            @Override
            public void prepare(List<ByteBuffer> buffers)
            {
                buffers.add(frame);
            }

            @Override
            public void close() {}
        };
    }

    private static ByteBuffer frame(long requestId, Message message)
    {
        try {
            return message.toFrame(requestId);
        }
        catch (FrameTooLargeException e) {
            return new ControlMessage.Error("the reply does not fit: " + e.getMessage()).toFrame(requestId);
        }
    }
}
