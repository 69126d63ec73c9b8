package io.cachedhive.client;

import io.cachedhive.client.local.LocalTier;
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
    private final LocalTier local;
    private final HeapBudget heap;
    // by what readers that are at the same place at the same time would offer twice
    private final Set<Digest128> underWay = ConcurrentHashMap.newKeySet();

    Guests(LocalTier local, HeapBudget heap)
    {
        this.local = requireNonNull(local, "local is null");
        this.heap = requireNonNull(heap, "heap is null");
    }

    /**
     * @return empty if the block is not to be offered
     */
    Optional<Copy> begin(BlockwiseFile file, int block, int blockSizeBytes)
    {
        LocalTier.Mapping mapping = local.mapping();
        // where readers do not see the memory, a guest would be of use to nobody
        if (mapping == null || mapping.blockSizeBytes() != blockSizeBytes || local.link().isBreakerOpen()) {
            return Optional.empty();
        }
        Optional<WorkerSession> session = local.link().session();
        int length = file.file().blockLength(block, blockSizeBytes);
        if (session.isEmpty() || !session.get().welcome().keepsGuests() || !heap.tryReserve(length)) {
            return Optional.empty();
        }
        Digest128 digest = new Digest128(file.blockDigestHigh(block), file.blockDigestLow(block));
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
            // more than the block has is no block, which shows in the end
            bytes.put(piece.slice(piece.position(), Math.min(piece.remaining(), bytes.remaining())));
        }

        /**
         * The bytes are verified.
         */
        void offer(long etagDigest, int checksum)
        {
            session.offerGuest(
                    new FillMessage.OfferGuest(file.origin(), file.file(), block, file.scope().table(), etagDigest, checksum, bytes.flip()),
                    this::drop);
        }

        void drop()
        {
            underWay.remove(digest);
            heap.release(bytes.capacity());
        }
    }
}
