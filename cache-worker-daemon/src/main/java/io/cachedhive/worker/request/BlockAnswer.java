package io.cachedhive.worker.request;

import io.airlift.log.Logger;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockFrame;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.ReadMessage.Range;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.worker.fetch.OverloadCause;
import io.cachedhive.worker.server.Outgoing;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * An answer with a block from a frame: its location in shared memory, or its requested bytes sent directly from the
 * frame.
 *
 * <p>The frame stays pinned until the answer is written, as long as the budget permits, so that a peer that does not
 * read cannot pin all frames. Without budget, the block is looked up again when the answer is sent. If it was evicted
 * meanwhile, the answer is {@link NoCause#OVERLOADED}.
 */
final class BlockAnswer
        implements Outgoing
{
    private static final Logger log = Logger.get(BlockAnswer.class);

    private final InFlight inFlight;
    private final long requestId;
    private final BlockKey key;
    private final Range range;
    private final Source source;
    private final boolean inline;
    private final int budgetedBytes;
    private Optional<PinnedBlock> pinned;

    /**
     * @param range the request, of which the block is a part
     * @param pinned owned by the answer from now on
     */
    BlockAnswer(InFlight inFlight, long requestId, BlockKey key, Range range, Source source, boolean inline, PinnedBlock pinned)
    {
        this.inFlight = requireNonNull(inFlight, "inFlight is null");
        this.requestId = requestId;
        this.key = requireNonNull(key, "key is null");
        this.range = requireNonNull(range, "range is null");
        this.source = requireNonNull(source, "source is null");
        this.inline = inline;
        if (inFlight.budget().tryAcquire(pinned.length())) {
            this.budgetedBytes = pinned.length();
            this.pinned = Optional.of(pinned);
            inFlight.pinned();
        }
        else {
            this.budgetedBytes = 0;
            this.pinned = Optional.empty();
            pinned.close();
        }
    }

    @Override
    public void prepare(List<ByteBuffer> buffers)
    {
        if (pinned.isEmpty()) {
            pinned = inFlight.store().pin(key);
            pinned.ifPresent(_ -> inFlight.pinned());
        }
        if (pinned.isEmpty()) {
            inFlight.counters().addOverloaded(OverloadCause.FRAMES, 1);
            buffers.add(new BlockNo(key.index(), NoCause.OVERLOADED).toFrame(requestId));
            return;
        }
        PinnedBlock block = pinned.get();
        if (inline) {
            prepareBytes(block, buffers);
            return;
        }
        Message message = new BlockFrame(key.index(), source, block.etagDigest(), block.length(), block.frame(), block.frameOffset(), block.generation());
        buffers.add(message.toFrame(requestId));
    }

    private void prepareBytes(PinnedBlock block, List<ByteBuffer> buffers)
    {
        int offset = range.offset(key.index());
        int length = range.length(key.index(), block.length());
        Optional<PieceChecksums> checksums = block.checksums(offset, length);
        if (checksums.isEmpty()) {
            log.error("A block in RAM does not match its checksums, and was dropped: check the memory of this host");
            buffers.add(new BlockNo(key.index(), NoCause.CORRUPT).toFrame(requestId));
            return;
        }
        inFlight.counters().addSentBytes(length);
        BlockBytes message = new BlockBytes(key.index(), source, block.etagDigest(), checksums.get(), block.payload().slice(offset, length));
        buffers.add(message.toFramePrefix(requestId));
        buffers.add(message.payload());
    }

    @Override
    public void close()
    {
        pinned.ifPresent(block -> {
            block.close();
            inFlight.unpinned();
        });
        inFlight.budget().release(budgetedBytes);
    }
}
