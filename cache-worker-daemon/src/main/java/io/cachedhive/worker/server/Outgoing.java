package io.cachedhive.worker.server;

import io.cachedhive.protocol.wire.Message;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * Something to send on a connection.
 */
public interface Outgoing
        extends AutoCloseable
{
    /**
     * Its turn has come: adds the bytes to be sent. Does not wait.
     */
    void prepare(List<ByteBuffer> buffers);

    /**
     * The bytes are sent, or the connection has ended, perhaps without {@link #prepare}. Called once.
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
