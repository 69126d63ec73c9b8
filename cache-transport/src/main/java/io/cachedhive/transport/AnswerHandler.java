package io.cachedhive.transport;

import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;

import java.nio.ByteBuffer;

/**
 * Takes the answers to one request, on an I/O thread: must not block.
 */
public interface AnswerHandler
{
    /**
     * The largest block that the request can be answered with. 0 if bytes are no answer.
     */
    int maxPayloadBytes();

    /**
     * The largest answer of any other kind, in bytes.
     */
    default int maxBodyBytes()
    {
        return 64 << 10;
    }

    /**
     * The next bytes of a block, in order and straight from the socket, while they are in the processor's cache.
     *
     * @param block whose bytes they are; without a payload
     * @param offset of the first of them in the payload, which need not begin with the block
     * @param bytes to be taken before this returns
     */
    default void arrived(BlockBytes block, int offset, ByteBuffer bytes)
    {
        throw new IllegalStateException("asked for no bytes, and got some of block %s".formatted(block.block()));
    }

    /**
     * @param message the payload of {@link BlockBytes} is not in it: it arrived before, all of it
     * @return whether this was the last answer
     */
    boolean answered(Message message);

    /**
     * There will be no more answers: the connection was lost.
     */
    void failed(WorkerException reason);
}
