package io.cachedhive.worker.server;

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

    static Outgoing message(long requestId, Message message)
    {
        ByteBuffer frame = message.toFrame(requestId);
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
}
