package io.cachedhive.worker.request;

import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.ReadMessage.Range;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.worker.fetch.SharedBytes;
import io.cachedhive.worker.fetch.WorkerCounters;
import io.cachedhive.worker.server.Outgoing;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * An answer with a block that is not in a frame, even if the client requested a frame.
 */
final class BytesAnswer
        implements Outgoing
{
    private final long requestId;
    private final int block;
    private final Range range;
    private final SharedBytes bytes;
    private final WorkerCounters counters;

    BytesAnswer(long requestId, int block, Range range, SharedBytes bytes, WorkerCounters counters)
    {
        this.requestId = requestId;
        this.block = block;
        this.range = requireNonNull(range, "range is null");
        this.bytes = requireNonNull(bytes, "bytes is null");
        this.counters = requireNonNull(counters, "counters is null");
        bytes.retain();
    }

    @Override
    public void prepare(List<ByteBuffer> buffers)
    {
        int offset = range.offset(block);
        int length = range.length(block, bytes.length());
        Optional<PieceChecksums> checksums = bytes.checksums(offset, length);
        if (checksums.isEmpty()) {
            buffers.add(new BlockNo(block, NoCause.CORRUPT).toFrame(requestId));
            return;
        }
        BlockBytes message = new BlockBytes(block, Source.REMOTE, bytes.etagDigest(), checksums.get(), bytes.payload().slice(offset, length));
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
