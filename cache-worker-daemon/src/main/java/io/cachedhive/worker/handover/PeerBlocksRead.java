package io.cachedhive.worker.handover;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.checksum.PieceVerifier;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.Fill;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.transport.AnswerHandler;
import io.cachedhive.transport.WorkerException;
import io.cachedhive.transport.WorkerException.Reason;
import io.cachedhive.transport.WorkerLink;
import io.cachedhive.transport.WorkerSession;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

import static java.util.Objects.requireNonNull;

/**
 * One request for adjacent blocks of another cache worker. The bytes are written to frames as they arrive. Used once.
 *
 * <p>An I/O thread writes to the frames until {@link #close}. Only complete and verified blocks are published.
 */
final class PeerBlocksRead
        implements AnswerHandler
{
    private static final RingEpoch NO_RING = new RingEpoch(0);

    private final BlockStore store;
    private final WorkerLink link;
    private final WorkerSession session;
    private final PeerFile file;
    private final Map<Integer, BlockTerms> blocks;
    private final long flushes;
    private final Duration silence;
    private final BlockingQueue<Answer> answers = new LinkedBlockingQueue<>();

    @GuardedBy("this")
    private final Map<Integer, ArrivingBlock> arriving = new LinkedHashMap<>();

    /**
     * The file whose blocks are read.
     *
     * @param origin the index of the origin in the session's handshake
     * @param etagDigest the digest of the ETag to which the file is bound here
     */
    record PeerFile(int origin, FileVersion version, FileVersionId id, long etagDigest)
    {
        PeerFile
        {
            requireNonNull(version, "version is null");
            requireNonNull(id, "id is null");
        }
    }

    /**
     * The answer for one block.
     *
     * @param failure set instead of a block; null otherwise
     */
    private record Answer(int block, boolean verified, WorkerException failure) {}

    private static final class ArrivingBlock
    {
        private final Fill fill;
        private final int length;
        private PieceVerifier verifier;

        private ArrivingBlock(Fill fill, int length)
        {
            this.fill = fill;
            this.length = length;
        }

        private boolean isWhole(BlockBytes message)
        {
            return message.checksums().offset() == 0 && message.checksums().length() == length;
        }
    }

    /**
     * @param blocks adjacent blocks
     * @param flushes the flush count at the time when the peer was known to have applied all flushes of this worker
     * @param silence the maximum time from one block to the next
     */
    PeerBlocksRead(BlockStore store, WorkerLink link, WorkerSession session, PeerFile file, Map<Integer, BlockTerms> blocks, long flushes, Duration silence)
    {
        this.store = requireNonNull(store, "store is null");
        this.link = requireNonNull(link, "link is null");
        this.session = requireNonNull(session, "session is null");
        this.file = requireNonNull(file, "file is null");
        this.blocks = requireNonNull(blocks, "blocks is null");
        this.flushes = flushes;
        this.silence = requireNonNull(silence, "silence is null");
    }

    /**
     * Reads the blocks.
     *
     * @return whether there were frames for all blocks
     */
    boolean run(IntConsumer taken)
            throws WorkerException, InterruptedException
    {
        long request = 0;
        Map<Integer, Fill> fills = beginFills();
        try {
            if (fills.isEmpty()) {
                return false;
            }
            int firstBlock = fills.keySet().iterator().next();
            ReadMessage.Range range = ReadMessage.Range.ofBlocks(firstBlock, fills.size());
            request = session.send(new ReadMessage.Read(file.origin(), file.version(), range, true, false, false, NO_RING, ""), this);
            for (int left = fills.size(); left > 0; left--) {
                Answer answer = answers.poll(silence.toMillis(), TimeUnit.MILLISECONDS);
                if (answer == null) {
                    link.silent();
                    throw new WorkerException(Reason.SILENT, "cache worker at %s stopped sending".formatted(link.endpoint()));
                }
                if (answer.failure() != null) {
                    throw answer.failure();
                }
                if (answer.verified()) {
                    Optional<PinnedBlock> stored = fills.get(answer.block()).commit();
                    try (PinnedBlock _ = stored.orElse(null)) {
                        if (stored.isPresent()) {
                            taken.accept(answer.block());
                        }
                    }
                }
            }
            return fills.size() == blocks.size();
        }
        finally {
            close();
            if (request != 0) {
                session.cancel(request);
            }
            fills.values().forEach(Fill::close);
        }
    }

    private Map<Integer, Fill> beginFills()
    {
        Map<Integer, Fill> fills = new LinkedHashMap<>();
        for (Map.Entry<Integer, BlockTerms> block : blocks.entrySet()) {
            int length = file.version().blockLength(block.getKey(), store.blockSizeBytes());
            Optional<Fill> fill = store.beginFill(file.id().block(block.getKey()), length, file.etagDigest(), block.getValue(), flushes);
            if (fill.isEmpty()) {
                break;
            }
            fills.put(block.getKey(), fill.get());
            synchronized (this) {
                arriving.put(block.getKey(), new ArrivingBlock(fill.get(), length));
            }
        }
        return fills;
    }

    /**
     * Stops writes to the frames.
     */
    private synchronized void close()
    {
        arriving.clear();
    }

    @Override
    public int maxPayloadBytes()
    {
        return store.blockSizeBytes();
    }

    @Override
    public synchronized void arrived(BlockBytes message, int offset, ByteBuffer bytes)
    {
        ArrivingBlock block = arriving.get(message.block());
        if (block == null || !block.isWhole(message)) {
            return;
        }
        if (offset == 0) {
            block.verifier = new PieceVerifier(message.checksums());
        }
        // over the received bytes instead of shared memory
        block.verifier.update(bytes);
        block.fill.buffer().put(offset, bytes, bytes.position(), bytes.remaining());
    }

    @Override
    public synchronized boolean answered(Message message)
    {
        link.answered();
        switch (message) {
            case BlockBytes bytes -> {
                ArrivingBlock block = arriving.remove(bytes.block());
                if (block == null) {
                    return fail("a block that was not requested");
                }
                boolean verified = block.isWhole(bytes) && block.verifier != null && block.verifier.isVerified();
                if (!verified) {
                    return fail("bytes that do not verify");
                }
                // a block with another ETag is not an error of the peer, but cannot be used
                answers.add(new Answer(bytes.block(), bytes.etagDigest() == file.etagDigest(), null));
            }
            case BlockNo no -> {
                if (arriving.remove(no.block()) == null) {
                    return fail("a refusal of a block that was not requested");
                }
                answers.add(new Answer(no.block(), false, null));
            }
            default -> {
                return fail(message.type() + " in answer to a read");
            }
        }
        return arriving.isEmpty();
    }

    @GuardedBy("this")
    private boolean fail(String what)
    {
        arriving.clear();
        failed(new WorkerException(Reason.PROTOCOL, "cache worker at %s sends %s".formatted(link.endpoint(), what)));
        return true;
    }

    @Override
    public void failed(WorkerException reason)
    {
        answers.add(new Answer(-1, false, reason));
    }
}
