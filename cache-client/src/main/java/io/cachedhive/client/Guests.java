package io.cachedhive.client;

import io.cachedhive.client.local.LocalTier;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.FillMessage;
import io.cachedhive.transport.WorkerSession;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import static java.util.Objects.requireNonNull;

/**
 * Blocks of other hosts' workers that are offered to this host's, so that they are in its shared memory when they are read again. At best: what finds no
 * room on its way is not offered, and nobody waits.
 */
final class Guests
{
    // the third read of parts of a block requests all of it
    private static final int MAX_PARTIAL_READS = 2;

    private final LocalTier local;
    private final HeapBudget heap;
    private final PartialReads partialReads = new PartialReads();
    // by what readers that are at the same place at the same time would offer twice
    private final Set<Digest128> underWay = ConcurrentHashMap.newKeySet();

    Guests(LocalTier local, HeapBudget heap)
    {
        this.local = requireNonNull(local, "local is null");
        this.heap = requireNonNull(heap, "heap is null");
    }

    /**
     * Returns whether a read requests all of a block of another host, so that it can become a guest, although the reader
     * needs only a part. It does so if the rest costs little, or if the block is being read again.
     *
     * @param bytes bytes of the block that the reader needs
     */
    boolean isWholeRequested(BlockwiseFile file, int block, int blockSizeBytes, long bytes)
    {
        int length = file.file().blockLength(block, blockSizeBytes);
        if (!file.scope().mayFill() || keeper(blockSizeBytes).isEmpty()) {
            return false;
        }
        return bytes * 2 >= length ||
                length <= PieceChecksums.PIECE_BYTES ||
                file.scope().fillsAsGuests() ||
                partialReads.add(digest(file, block)) > MAX_PARTIAL_READS;
    }

    /**
     * Returns the session of the local cache worker if it keeps guests, and readers find them.
     */
    private Optional<WorkerSession> keeper(int blockSizeBytes)
    {
        LocalTier.Mapping mapping = local.mapping();
        // where readers do not see the memory, a guest would be of use to nobody
        if (mapping == null || mapping.blockSizeBytes() != blockSizeBytes || local.link().isBreakerOpen()) {
            return Optional.empty();
        }
        return local.link().session().filter(session -> session.welcome().keepsGuests());
    }

    private static Digest128 digest(BlockwiseFile file, int block)
    {
        return new Digest128(file.blockDigestHigh(block), file.blockDigestLow(block));
    }

    /**
     * @return empty if the block is not to be offered
     */
    Optional<Copy> begin(BlockwiseFile file, int block, int blockSizeBytes)
    {
        Optional<WorkerSession> session = keeper(blockSizeBytes);
        int length = file.file().blockLength(block, blockSizeBytes);
        if (session.isEmpty() || !heap.tryReserve(length)) {
            return Optional.empty();
        }
        Digest128 digest = digest(file, block);
        if (!underWay.add(digest)) {
            heap.release(length);
            return Optional.empty();
        }
        return Optional.of(new Copy(file, block, digest, session.get(), length));
    }

    /**
     * The bytes of a block, gathered as they come. For one thread at a time; {@link #offer} or {@link #drop} has to follow.
     */
    final class Copy
    {
        private final BlockwiseFile file;
        private final int block;
        private final Digest128 digest;
        private final WorkerSession session;
        private final ByteBuffer bytes;

        private Copy(BlockwiseFile file, int block, Digest128 digest, WorkerSession session, int length)
        {
            this.file = file;
            this.block = block;
            this.digest = digest;
            this.session = session;
            this.bytes = ByteBuffer.allocate(length);
        }

        void add(ByteBuffer piece)
        {
            bytes.put(piece.duplicate());
        }

        /**
         * The bytes are verified.
         */
        void offer(long etagDigest, PieceChecksums checksums)
        {
            session.offerGuest(
                    new FillMessage.OfferGuest(file.origin(), file.file(), block, file.scope().table(), etagDigest, checksums.whole(), bytes.flip()),
                    this::drop);
        }

        void drop()
        {
            underWay.remove(digest);
            heap.release(bytes.capacity());
        }
    }
}
