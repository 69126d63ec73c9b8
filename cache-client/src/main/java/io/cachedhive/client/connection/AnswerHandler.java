package io.cachedhive.client.connection;

import io.cachedhive.protocol.wire.Message;

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
     * Whether memory for as many bytes per block is reserved. If not, it is reserved for each block that comes.
     */
    default boolean isPayloadReserved()
    {
        return true;
    }

    /**
     * The largest answer of any other kind, in bytes.
     */
    default int maxBodyBytes()
    {
        return 64 << 10;
    }

    /**
     * @param buffer what {@link Message.BlockBytes#payload} lies in: now the handler's, to be released; null with any other message
     * @return whether this was the last answer
     */
    boolean answered(Message message, TransferMemory.Buffer buffer);

    /**
     * There will be no more answers: the connection was lost.
     */
    void failed(WorkerException reason);
}
