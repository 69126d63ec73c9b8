package io.cachedhive.worker.request;

import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.worker.fetch.SharedBytes;
import io.cachedhive.worker.fetch.WorkerCounters;
import io.cachedhive.worker.server.Outgoing;

import java.nio.ByteBuffer;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * An answer with a block that is not in a frame, even if the client requested a frame.
 */
final class BytesAnswer
        implements Outgoing
{
    private final long requestId;
    private final int block;
    private final SharedBytes bytes;
    private final WorkerCounters counters;

    BytesAnswer(long requestId, int block, SharedBytes bytes, WorkerCounters counters)
    {
        this.requestId = requestId;
        this.block = block;
        this.bytes = requireNonNull(bytes, "bytes is null");
        this.counters = requireNonNull(counters, "counters is null");
        bytes.retain();
    }

    @Override
    public void prepare(List<ByteBuffer> buffers)
    {
        BlockBytes message = new BlockBytes(block, Source.REMOTE, bytes.etagDigest(), bytes.checksum(), bytes.payload());
        buffers.add(message.toFramePrefix(requestId));
        counters.addSentBytes(message.payload().remaining());
        buffers.add(message.payload());
    }

    @Override
    public void close()
    {
        bytes.release();
    }
}
