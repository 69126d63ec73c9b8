package io.cachedhive.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.client.BlockwiseFile.ByteRange;
import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.checksum.PieceVerifier;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.FillMessage;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockFrame;
import io.cachedhive.protocol.wire.ReadMessage.BlockLease;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.transport.AnswerHandler;
import io.cachedhive.transport.WorkerException;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * One request of a {@link RangeRead}: neighbouring blocks, of which a range of bytes is wanted. Takes bytes as they come, on an I/O thread, and leaves all
 * other answers in the mailbox of the reading thread.
 */
final class BlockRun
        implements AnswerHandler
{
    /**
     * What the reading thread hears of a run.
     *
     * @param verified of bytes: that they are the block's
     * @param failure in place of a message; null otherwise
     */
    record Letter(BlockRun run, Message message, boolean verified, Bypass failure) {}

    private final ReadContext context;
    private final BlockwiseFile file;
    private final FileVersion version;
    private final ReadTarget target;
    private final Mailbox<Letter> mailbox;
    private final Owner owner;
    private final int firstBlock;
    private final int blockCount;
    private final ByteRange range;
    private final ReadMessage.Range requested;
    private final boolean inline;
    private final boolean secondAttempt;

    // the reading thread only
    long request;
    int unread;

    // I/O threads only, one after another
    private final BitSet answered = new BitSet();
    // of the block that arrives; null before the first one, and for one that was not requested like this
    private PieceVerifier verifier;

    @GuardedBy("this")
    private boolean closed;
    @GuardedBy("this")
    private Optional<Guests.Copy> guest = Optional.empty();

    private volatile long sentNanos;
    private volatile long lastSignNanos;
    private volatile boolean fetching;

    /**
     * The read that a run is part of.
     */
    record Read(ReadContext context, BlockwiseFile file, ReadTarget target, Mailbox<Letter> mailbox)
    {
        Read
        {
            requireNonNull(context, "context is null");
            requireNonNull(file, "file is null");
            requireNonNull(target, "target is null");
            requireNonNull(mailbox, "mailbox is null");
        }
    }

    BlockRun(Read read, Owner owner, ByteRange range, boolean inline, boolean secondAttempt)
    {
        this.context = read.context();
        this.file = read.file();
        this.version = file.file();
        this.target = read.target();
        this.mailbox = read.mailbox();
        this.owner = requireNonNull(owner, "owner is null");
        this.range = range;
        this.firstBlock = (int) (range.start() / owner.blockSizeBytes());
        this.blockCount = (int) ((range.end() - 1) / owner.blockSizeBytes()) - firstBlock + 1;
        this.inline = inline;
        this.secondAttempt = secondAttempt;
        this.unread = blockCount;
        this.requested = requested();
    }

    /**
     * What is asked of the worker: the range, and of the first and the last block all of it if that is to become a guest.
     */
    private ReadMessage.Range requested()
    {
        int lastBlock = firstBlock + blockCount - 1;
        int skip = 0;
        int omit = 0;
        if (!isWholeRequested(firstBlock)) {
            skip = (int) (range.start() - blockStart(firstBlock));
            omit = lastBlock == firstBlock ? bytesBehind(lastBlock) : 0;
        }
        if (lastBlock != firstBlock && !isWholeRequested(lastBlock)) {
            omit = bytesBehind(lastBlock);
        }
        return new ReadMessage.Range(firstBlock, blockCount, skip, omit);
    }

    private int bytesBehind(int block)
    {
        return (int) (blockStart(block) + blockLength(block) - wanted(block).end());
    }

    private boolean isWholeRequested(int block)
    {
        long bytes = wanted(block).end() - wanted(block).start();
        return bytes == blockLength(block) || (!owner.own() && context.guests().isWholeRequested(file, block, owner.blockSizeBytes(), bytes));
    }

    Owner owner()
    {
        return owner;
    }

    ReadMessage.Range requestedRange()
    {
        return requested;
    }

    /**
     * Whether its bytes come with the answer, and not in a frame of shared memory.
     */
    boolean inline()
    {
        return inline;
    }

    boolean secondAttempt()
    {
        return secondAttempt;
    }

    /**
     * Whether the worker said that it waits for the origin.
     */
    boolean isFetching()
    {
        return fetching;
    }

    /**
     * When the worker said something, or was asked.
     */
    long lastSignNanos()
    {
        return lastSignNanos;
    }

    void sending()
    {
        sentNanos = context.nanoTime();
        lastSignNanos = sentNanos;
    }

    long blockStart(int block)
    {
        return (long) block * owner.blockSizeBytes();
    }

    int blockLength(int block)
    {
        return version.blockLength(block, owner.blockSizeBytes());
    }

    /**
     * What is wanted of a block, as positions in the file.
     */
    ByteRange wanted(int block)
    {
        long start = blockStart(block);
        return new ByteRange(Math.max(range.start(), start), Math.min(range.end(), start + blockLength(block)));
    }

    @Override
    public int maxPayloadBytes()
    {
        return owner.blockSizeBytes();
    }

    private boolean isExpected(int block)
    {
        return block >= firstBlock && block < firstBlock + blockCount && !answered.get(block - firstBlock);
    }

    /**
     * Whether the bytes are those that were asked for, neither fewer nor others.
     */
    private boolean isRequested(BlockBytes block)
    {
        PieceChecksums checksums = block.checksums();
        return checksums.offset() == requested.offset(block.block()) && checksums.length() == requested.length(block.block(), blockLength(block.block()));
    }

    @Override
    public void arrived(BlockBytes block, int offset, ByteBuffer bytes)
    {
        if (!isExpected(block.block()) || !isRequested(block)) {
            return;
        }
        if (offset == 0) {
            // the first bytes of a block are a sign, later ones are not: who sends them in drops is as good as silent
            lastSignNanos = context.nanoTime();
            verifier = new PieceVerifier(block.checksums());
            copyForGuest(block);
        }
        addToGuest(bytes);
        verifier.update(bytes);
        ByteRange wanted = wanted(block.block());
        long first = blockStart(block.block()) + block.checksums().offset() + offset;
        long start = Math.max(wanted.start(), first);
        int length = (int) Math.min(wanted.end() - start, first + bytes.remaining() - start);
        if (length > 0) {
            copy(bytes, (int) (start - first), start, length);
        }
    }

    /**
     * Into the reader's buffer, as long as it is the reader's. What turns out to be wrong is read again from the origin, or the read fails:
     * nobody looks at it before it was verified.
     */
    private synchronized void copy(ByteBuffer bytes, int skip, long start, int length)
    {
        if (!closed) {
            bytes.get(bytes.position() + skip, target.buffer(), target.index(start), length);
        }
    }

    /**
     * The reader's buffer is left alone from now on.
     */
    synchronized void close()
    {
        closed = true;
        dropGuest();
    }

    /**
     * A hit on another host is offered to the worker of this one. Fills are not, unless the scan says so: whoever fills a block reads it once, as far as
     * anybody else knows.
     */
    private synchronized void copyForGuest(BlockBytes block)
    {
        dropGuest();
        boolean whole = block.checksums().length() == blockLength(block.block());
        if (!closed && whole && !owner.own() && file.scope().mayFill() && (block.source() != Source.REMOTE || file.scope().fillsAsGuests())) {
            guest = context.guests().begin(file, block.block(), owner.blockSizeBytes());
        }
    }

    private synchronized void addToGuest(ByteBuffer bytes)
    {
        guest.ifPresent(copy -> copy.add(bytes));
    }

    private synchronized void dropGuest()
    {
        guest.ifPresent(Guests.Copy::drop);
        guest = Optional.empty();
    }

    private synchronized void offerGuest(BlockBytes block)
    {
        guest.ifPresent(copy -> copy.offer(block.etagDigest(), block.checksums()));
        guest = Optional.empty();
    }

    @Override
    public boolean answered(Message message)
    {
        lastSignNanos = context.nanoTime();
        owner.link().answered();
        if (message instanceof ReadMessage.Fetching) {
            if (!fetching) {
                fetching = true;
                // the reader waits by how long hits take: it computes its deadlines again
                mailbox.put(new Letter(this, message, false, null));
            }
            return false;
        }
        int block = switch (message) {
            case BlockFrame answer -> answer.block();
            case BlockBytes answer -> answer.block();
            case BlockLease answer -> answer.block();
            case BlockNo answer -> answer.block();
            default -> -1;
        };
        if (!isExpected(block) || (message instanceof BlockBytes bytes && !isRequested(bytes))) {
            String problem = message instanceof ControlMessage.Error error ? error.message() : "unexpected answer to a read: " + message.type();
            mailbox.put(new Letter(this, null, false, new Bypass(BypassCause.PROTOCOL_ERROR, problem)));
            return true;
        }
        answered.set(block - firstBlock);
        addLatency(message);
        boolean verified = message instanceof BlockBytes && verifier != null && verifier.isVerified();
        verifier = null;
        if (message instanceof BlockBytes bytes && verified) {
            offerGuest(bytes);
        }
        else {
            dropGuest();
        }
        if (!mailbox.put(new Letter(this, message, verified, null))) {
            discard(message);
        }
        return answered.cardinality() == blockCount;
    }

    private void addLatency(Message message)
    {
        if (answered.cardinality() != 1) {
            // later ones waited for the first
            return;
        }
        Source source = switch (message) {
            case BlockFrame answer -> answer.source();
            case BlockBytes answer -> answer.source();
            default -> null;
        };
        long nanos = lastSignNanos - sentNanos;
        if (source == Source.REMOTE) {
            context.hedges().addOriginLatency(nanos);
        }
        else if (source != null && !fetching) {
            owner.link().hits().add(nanos);
        }
    }

    /**
     * Gives back what came with an answer that nobody takes.
     */
    void discard(Message message)
    {
        if (message instanceof BlockLease lease) {
            owner.session().sendOneWay(new FillMessage.ReleaseLease(lease.lease()));
        }
    }

    @Override
    public void failed(WorkerException reason)
    {
        dropGuest();
        mailbox.put(new Letter(this, null, false, Bypass.of(reason)));
    }
}
