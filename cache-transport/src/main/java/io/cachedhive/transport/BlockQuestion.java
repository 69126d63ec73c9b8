package io.cachedhive.transport;

import io.cachedhive.protocol.checksum.PieceVerifier;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.transport.WorkerException.Reason;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import static java.util.Objects.requireNonNull;

/**
 * Asks a worker for one block that it has, for those who do not wait. Nothing is fetched for it.
 */
final class BlockQuestion
        implements AnswerHandler
{
    private final WorkerLink link;
    private final int origin;
    private final FileVersion file;
    private final long position;
    private final RingEpoch epoch;
    private final String table;
    private final long timeoutMillis;
    private final CompletableFuture<CachedBlock> future = new CompletableFuture<>();

    // set before the request is sent
    private volatile long blockStart;
    private volatile byte[] bytes;

    // I/O threads only, one after another
    private PieceVerifier verifier;

    BlockQuestion(WorkerLink link, int origin, FileVersion file, long position, RingEpoch epoch, String table, long timeoutMillis)
    {
        this.link = requireNonNull(link, "link is null");
        this.origin = origin;
        this.file = requireNonNull(file, "file is null");
        this.position = position;
        this.epoch = requireNonNull(epoch, "epoch is null");
        this.table = requireNonNull(table, "table is null");
        this.timeoutMillis = timeoutMillis;
    }

    CompletableFuture<CachedBlock> ask(WorkerConnections connections)
    {
        link.connect().whenComplete((session, failure) -> {
            if (failure != null) {
                future.completeExceptionally(failure);
            }
            else {
                send(session);
            }
        });
        if (!future.isDone()) {
            Future<?> timeout = connections.after(timeoutMillis, () -> failed(new WorkerException(
                    Reason.SILENT,
                    "cache worker at %s did not answer within %s ms".formatted(link.endpoint(), timeoutMillis))));
            future.whenComplete((_, _) -> timeout.cancel(false));
        }
        return future;
    }

    private void send(WorkerSession session)
    {
        if (future.isDone()) {
            return;
        }
        int blockSize = session.welcome().blockSizeBytes();
        int block = (int) (position / blockSize);
        blockStart = (long) block * blockSize;
        bytes = new byte[file.blockLength(block, blockSize)];
        try {
            long id = session.send(new ReadMessage.Read(origin, file, ReadMessage.Range.ofBlocks(block, 1), true, false, false, epoch, table), this);
            // timed out, or given up by whoever asked
            future.whenComplete((_, failure) -> {
                if (failure != null) {
                    session.cancel(id);
                }
            });
        }
        catch (WorkerException e) {
            future.completeExceptionally(e);
        }
    }

    @Override
    public int maxPayloadBytes()
    {
        return bytes.length;
    }

    @Override
    public void arrived(BlockBytes block, int offset, ByteBuffer payload)
    {
        if (!isWhole(block)) {
            return;
        }
        if (offset == 0) {
            verifier = new PieceVerifier(block.checksums());
        }
        verifier.update(payload);
        payload.get(bytes, offset, payload.remaining());
    }

    private boolean isWhole(BlockBytes block)
    {
        return block.checksums().offset() == 0 && block.checksums().length() == bytes.length;
    }

    @Override
    public boolean answered(Message message)
    {
        switch (message) {
            case ReadMessage.Fetching _ -> {
                return false;
            }
            case BlockBytes block when isWhole(block) && verifier != null && verifier.isVerified() -> future.complete(new CachedBlock(blockStart, bytes));
            case BlockBytes _ -> failed(new WorkerException(Reason.PROTOCOL, "cache worker at %s sent a block of %s that is damaged".formatted(link.endpoint(), file.location())));
            case BlockNo no when no.cause() == NoCause.UNAVAILABLE || no.cause() == NoCause.OVERLOADED -> failed(WorkerException.no(link.endpoint(), no.cause()));
            case BlockNo no -> failed(new WorkerException(Reason.PROTOCOL, "cache worker at %s answers %s for %s".formatted(link.endpoint(), no.cause(), file.location())));
            case ControlMessage.Error error -> failed(new WorkerException(Reason.PROTOCOL, "cache worker at %s refuses: %s".formatted(link.endpoint(), error.message())));
            default -> failed(new WorkerException(Reason.PROTOCOL, "cache worker at %s answers a read with %s".formatted(link.endpoint(), message.type())));
        }
        return true;
    }

    @Override
    public void failed(WorkerException reason)
    {
        future.completeExceptionally(reason);
    }
}
