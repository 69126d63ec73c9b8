package io.cachedhive.client;

import io.airlift.log.Logger;
import io.cachedhive.client.BlockwiseFile.ByteRange;
import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.FillMessage;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.transport.AnswerHandler;
import io.cachedhive.transport.WorkerException;
import io.cachedhive.transport.WorkerSession;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.zip.CRC32C;

import static java.util.Objects.requireNonNull;

/**
 * The blocks of a read that their workers cannot fetch, and this client has leases for: it reads them through Trino's own file system and offers them
 * to the workers. By the reading thread.
 */
final class LeaseFills
{
    private static final Logger log = Logger.get(LeaseFills.class);

    private final ReadContext context;
    private final BlockwiseFile file;
    private final FileVersion version;
    private final ReadTarget target;
    private final List<Owner> owners;
    private final List<Lease> leases = new ArrayList<>();
    private long filledBytes;

    /**
     * @param owners in whose order leases are filled
     */
    LeaseFills(ReadContext context, BlockwiseFile file, ReadTarget target, List<Owner> owners)
    {
        this.context = requireNonNull(context, "context is null");
        this.file = requireNonNull(file, "file is null");
        this.version = file.file();
        this.target = requireNonNull(target, "target is null");
        this.owners = requireNonNull(owners, "owners is null");
    }

    private record Lease(BlockRun run, int block, long lease) {}

    void add(BlockRun run, int block, long lease)
    {
        leases.add(new Lease(run, block, lease));
    }

    boolean isEmpty()
    {
        return leases.isEmpty();
    }

    /**
     * Bytes that the reader wanted, and has.
     */
    long filledBytes()
    {
        return filledBytes;
    }

    /**
     * Reads all of them from the origin, takes what is wanted, and offers them.
     */
    void fill()
            throws Bypass, InterruptedIOException
    {
        leases.sort(Comparator.comparingInt((Lease lease) -> owners.indexOf(lease.run().owner())).thenComparingInt(Lease::block));
        while (!leases.isEmpty()) {
            List<Lease> neighbours = new ArrayList<>();
            long bytes = 0;
            for (Lease lease : leases) {
                int length = lease.run().blockLength(lease.block());
                if (!neighbours.isEmpty()) {
                    Lease last = neighbours.getLast();
                    if (lease.run().owner() != last.run().owner() || lease.block() != last.block() + 1 || bytes + length > context.requestBytes()) {
                        break;
                    }
                }
                neighbours.add(lease);
                bytes += length;
            }
            fill(neighbours, (int) bytes);
        }
    }

    private void fill(List<Lease> neighbours, int length)
            throws Bypass, InterruptedIOException
    {
        if (!context.heap().tryReserve(length)) {
            throw new Bypass(BypassCause.OVERLOADED, "memory for blocks on their way to workers is full");
        }
        int unsentBytes = length;
        try {
            byte[] bytes = new byte[length];
            Lease first = neighbours.getFirst();
            long start = first.run().blockStart(first.block());
            FileState state = readWhole(start, bytes);
            if (!version.matches(state.length(), state.lastModifiedMillis())) {
                throw new Bypass(BypassCause.VERSION_GONE, "%s was replaced".formatted(version.location()));
            }
            int blockOffset = 0;
            for (Lease lease : neighbours) {
                BlockRun run = lease.run();
                // nobody but the origin vouches for these bytes: only for blocks that came the same way they are of the same state
                file.checkState(run.owner(), ETags.NONE);
                ByteRange wanted = run.wanted(lease.block());
                int wantedBytes = (int) (wanted.end() - wanted.start());
                System.arraycopy(bytes, (int) (wanted.start() - start), target.buffer(), target.index(wanted.start()), wantedBytes);
                filledBytes += wantedBytes;

                int blockLength = run.blockLength(lease.block());
                leases.remove(lease);
                if (offer(lease, state, ByteBuffer.wrap(bytes, blockOffset, blockLength).slice())) {
                    unsentBytes -= blockLength;
                }
                blockOffset += blockLength;
            }
        }
        finally {
            context.heap().release(unsentBytes);
        }
    }

    private FileState readWhole(long start, byte[] bytes)
            throws Bypass, InterruptedIOException
    {
        try {
            file.input().readFully(start, bytes, 0, bytes.length);
            return file.input().current();
        }
        catch (IOException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("interrupted while reading from the origin: " + e.getMessage());
            }
            // the read of the range alone says how it fails, if it does
            throw new Bypass(BypassCause.ORIGIN_FAILED, "cannot read %s: %s".formatted(version.location(), e.getMessage()));
        }
    }

    /**
     * @return whether the memory is released by whoever sends the bytes
     */
    private boolean offer(Lease lease, FileState state, ByteBuffer bytes)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.duplicate());
        int length = bytes.remaining();
        WorkerSession session = lease.run().owner().session();
        HeapBudget memory = context.heap();
        try {
            // the bytes are in hand already: nobody waits for the answer
            long request = session.sendFill(
                    new FillMessage.Fill(lease.lease(), state.length(), state.lastModifiedMillis(), (int) checksum.getValue(), bytes),
                    new FillAnswer("block %s of %s".formatted(lease.block(), version.location())),
                    () -> memory.release(length));
            context.connections().after(context.fetchMillis(), () -> session.cancel(request));
            return true;
        }
        catch (WorkerException e) {
            return false;
        }
    }

    private record FillAnswer(String block)
            implements AnswerHandler
    {
        @Override
        public int maxPayloadBytes()
        {
            return 0;
        }

        @Override
        public boolean answered(Message message)
        {
            if (message instanceof ControlMessage.Error error) {
                log.debug("%s is not taken by its cache worker: %s", block, error.message());
            }
            return true;
        }

        @Override
        public void failed(WorkerException reason) {}
    }

    /**
     * Gives back those that are not filled.
     */
    void release()
    {
        leases.forEach(lease -> lease.run().owner().session().sendOneWay(new FillMessage.ReleaseLease(lease.lease())));
        leases.clear();
    }
}
