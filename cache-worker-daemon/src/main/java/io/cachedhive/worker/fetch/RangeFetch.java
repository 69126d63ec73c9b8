package io.cachedhive.worker.fetch;

import com.google.common.collect.ImmutableList;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.Fill;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.worker.fetch.BlockFetcher.Priority;
import io.cachedhive.worker.origin.ObjectRange;
import io.cachedhive.worker.origin.ObjectSourceException;
import io.cachedhive.worker.origin.ObjectSourceException.Reason;
import io.cachedhive.worker.origin.ObjectState;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * One request for a range: first to other workers that may have it, then for the rest with as many GETs as it takes, one for each run of neighbours; a stream that
 * breaks off is taken up again where it broke. Each block is handed out as soon as its last byte is there.
 */
final class RangeFetch
{
    private static final Logger log = Logger.get(RangeFetch.class);

    private static final int MAX_STREAM_FAILURES = 3;
    private static final int MAX_DROPS = 3;
    private static final int CHUNK_BYTES = 128 << 10;

    private final Services services;
    private final Takers takers;
    private final RangeRequest request;
    private final FetchTarget target;
    private final String bucket;
    private final int blockSizeBytes;
    // without those that other workers had
    private List<WantedBlock> blocks;
    // blocks before this one are done
    private int next;
    // how often the file was dropped while a block of it was on its way
    private int drops;

    /**
     * What all requests share.
     *
     * @param heap bounds blocks that are on the heap
     */
    record Services(BlockStore store, RequestLimits limits, WorkerCounters counters, ProvisionalVersions provisionals, ByteBudget heap, PeerSource peers)
    {
        Services
        {
            requireNonNull(store, "store is null");
            requireNonNull(limits, "limits is null");
            requireNonNull(counters, "counters is null");
            requireNonNull(provisionals, "provisionals is null");
            requireNonNull(heap, "heap is null");
            requireNonNull(peers, "peers is null");
        }
    }

    /**
     * Knows who waits for blocks.
     */
    interface Takers
    {
        /**
         * @return who waits for the block; empty if they were told already
         */
        Optional<List<BlockWaiter>> take(FileFetches file, WantedBlock block);

        /**
         * The origin refused a request as one too many: what somebody still waits for is asked for again after a pause, or given up.
         *
         * @return whether all was given up
         */
        boolean askAgain(FileFetches file, List<WantedBlock> blocks);
    }

    RangeFetch(Services services, Takers takers, RangeRequest request)
    {
        this.services = requireNonNull(services, "services is null");
        this.takers = requireNonNull(takers, "takers is null");
        this.request = requireNonNull(request, "request is null");
        this.target = request.file().target;
        this.blocks = request.blocks();
        this.bucket = target.location().bucket();
        this.blockSizeBytes = services.store().blockSizeBytes();
    }

    /**
     * Returns when every block was handed out, failed, or is to be asked for again.
     */
    void run()
    {
        if (blocks.stream().anyMatch(block -> block.refusals > 0)) {
            services.counters().addOriginRetries(1);
        }
        else {
            takeFromPeers();
        }
        int failures = 0;
        while (next < blocks.size()) {
            int before = next;
            try {
                get();
            }
            catch (ObjectSourceException e) {
                fail(e);
                return;
            }
            catch (IOException e) {
                failures = next > before ? 1 : failures + 1;
                log.debug("GET of %s broke off: %s", target.version().location(), e);
                if (failures == MAX_STREAM_FAILURES) {
                    fail(new ObjectSourceException(Reason.UNREACHABLE, e.toString(), e));
                    return;
                }
                services.counters().addOriginRetries(1);
            }
            if (drops == MAX_DROPS) {
                failAll(blocks.subList(next, blocks.size()), NoCause.ABSENT);
                return;
            }
        }
    }

    private void takeFromPeers()
    {
        Map<Integer, WantedBlock> wanted = new LinkedHashMap<>();
        blocks.forEach(block -> wanted.put(block.index, block));
        services.peers().take(target, ImmutableList.copyOf(wanted.keySet()), index -> {
            WantedBlock block = wanted.remove(index);
            takers.take(request.file(), block).ifPresent(waiters -> waiters.forEach(waiter -> waiter.handedOver(index)));
        });
        blocks = ImmutableList.copyOf(wanted.values());
    }

    private void fail(ObjectSourceException failure)
    {
        List<WantedBlock> left = blocks.subList(next, blocks.size());
        switch (failure.reason()) {
            case GONE, CHANGED -> {
                target.origin().health().succeeded(bucket);
                services.provisionals().versionChanged(target);
                services.peers().versionChanged(target.id());
                failAll(left, NoCause.VERSION_GONE);
            }
            case DENIED -> {
                target.origin().health().failed(bucket, describe(), failure);
                for (WantedBlock block : left) {
                    takers.take(request.file(), block).ifPresent(waiters -> waiters.forEach(waiter -> waiter.denied(block.index)));
                }
            }
            case THROTTLED -> {
                if (takers.askAgain(request.file(), left)) {
                    target.origin().health().failed(bucket, describe(), failure);
                }
            }
            case UNREACHABLE, FAILED -> {
                target.origin().health().failed(bucket, describe(), failure);
                failAll(left, NoCause.ORIGIN_FAILED);
            }
        }
    }

    /**
     * Tells whoever was not told yet.
     */
    void failRest(NoCause cause)
    {
        failAll(request.blocks(), cause);
    }

    private void failAll(List<WantedBlock> blocks, NoCause cause)
    {
        for (WantedBlock block : blocks) {
            takers.take(request.file(), block).ifPresent(waiters -> waiters.forEach(waiter -> waiter.failed(block.index, cause)));
        }
    }

    private String describe()
    {
        return "GET " + target.version().location();
    }

    private void get()
            throws ObjectSourceException, IOException
    {
        long start = (long) blocks.get(next).index * blockSizeBytes;
        int runEnd = next + 1;
        while (runEnd < blocks.size() && blocks.get(runEnd).index == blocks.get(runEnd - 1).index + 1) {
            runEnd++;
        }
        int last = blocks.get(runEnd - 1).index;
        long end = (long) last * blockSizeBytes + target.version().blockLength(last, blockSizeBytes);
        long flushes = services.store().flushes().count();
        // a weak ETag is equal to none in a condition, not even to itself
        Optional<String> bound = services.store().file(target.id()).flatMap(FileMetadata::etag).filter(etag -> !etag.startsWith("W/"));
        try (ObjectRange range = target.origin().source().open(target.location(), start, end - start, bound)) {
            target.origin().health().succeeded(bucket);
            ObjectState state = range.state();
            if (!ProvisionalVersions.isVersion(target.version(), state)) {
                throw new ObjectSourceException(Reason.CHANGED, "length or last-modified time is not the version's", null);
            }
            boolean provisional = services.provisionals().isProvisional(target.version(), state);
            if (!services.store().bind(target.version(), state.etag(), provisional, target.table())) {
                Optional<String> other = services.store().file(target.id()).flatMap(FileMetadata::etag);
                if (other.isEmpty() || state.etag().isEmpty()) {
                    // what clients offered carries no ETag: nothing says that the file was replaced, but the two are not kept together
                    services.store().flushes().dropFile(target.id());
                    drops++;
                    return;
                }
                throw new ObjectSourceException(Reason.CHANGED, "the object has another ETag", null);
            }
            if (!provisional) {
                services.provisionals().confirmByGet(target, state);
            }
            byte[] chunk = new byte[(int) Math.min(CHUNK_BYTES, end - start)];
            while (next < runEnd) {
                if (!receive(range, blocks.get(next), state, provisional, flushes, chunk)) {
                    // by a flush, or since the file was replaced: only another GET knows
                    drops++;
                    services.counters().addExtraBytes(target.version().blockLength(blocks.get(next).index, blockSizeBytes));
                    services.counters().addOriginRetries(1);
                    return;
                }
                next++;
            }
            services.limits().succeeded(target.bucket());
        }
    }

    /**
     * @return false if the file was dropped meanwhile, so that those who wait for the block were given nothing
     */
    private boolean receive(ObjectRange range, WantedBlock block, ObjectState state, boolean provisional, long flushes, byte[] chunk)
            throws IOException
    {
        int length = target.version().blockLength(block.index, blockSizeBytes);
        long etagDigest = state.etag().map(ETags::digest).orElse(ETags.NONE);
        Optional<Fill> fill = services.store().beginFill(target.id().block(block.index), length, etagDigest, KeptTerms.of(services.store(), block.terms), flushes);
        if (provisional || fill.isEmpty()) {
            receiveToHeap(range, block, state, etagDigest, length, fill, chunk);
            return true;
        }
        try (Fill frame = fill.get()) {
            for (int position = 0; position < length; ) {
                int count = read(range, chunk, 0, Math.min(chunk.length, length - position));
                frame.buffer().put(position, chunk, 0, count);
                position += count;
            }
            Optional<PinnedBlock> stored = request.priority() == Priority.AHEAD ? frame.commitAhead() : frame.commit();
            if (stored.isEmpty()) {
                return false;
            }
            List<BlockWaiter> waiters = takeCounted(block, length);
            try (PinnedBlock _ = stored.get()) {
                waiters.forEach(waiter -> waiter.stored(block.index));
            }
            return true;
        }
    }

    private void receiveToHeap(ObjectRange range, WantedBlock block, ObjectState state, long etagDigest, int length, Optional<Fill> fill, byte[] chunk)
            throws IOException
    {
        boolean kept = false;
        Optional<SharedBytes> bytes = SharedBytes.allocate(services.heap(), length);
        try {
            for (int position = 0; position < length; ) {
                int count = Math.min(chunk.length, length - position);
                count = bytes.isPresent() ? read(range, bytes.get().array(), position, count) : read(range, chunk, 0, count);
                if (fill.isPresent()) {
                    fill.get().buffer().put(position, bytes.map(SharedBytes::array).orElse(chunk), bytes.isPresent() ? position : 0, count);
                }
                position += count;
            }
            bytes.ifPresent(shared -> shared.complete(etagDigest));
            kept = fill.isPresent() && services.provisionals().hold(target, state, block.index, fill.get());
            for (BlockWaiter waiter : takeCounted(block, length)) {
                if (bytes.isPresent()) {
                    waiter.bytes(block.index, bytes.get());
                }
                else {
                    services.counters().addOverloaded(OverloadCause.HEAP, 1);
                    waiter.failed(block.index, NoCause.OVERLOADED);
                }
            }
        }
        finally {
            bytes.ifPresent(SharedBytes::release);
            if (!kept) {
                fill.ifPresent(Fill::close);
            }
        }
    }

    private List<BlockWaiter> takeCounted(WantedBlock block, int length)
    {
        List<BlockWaiter> waiters = takers.take(request.file(), block).orElse(ImmutableList.of());
        if (waiters.isEmpty() || request.priority() == Priority.PRELOAD) {
            services.counters().addExtraBytes(length);
        }
        return waiters;
    }

    private static int read(ObjectRange range, byte[] buffer, int offset, int length)
            throws IOException
    {
        int count = range.read(buffer, offset, length);
        if (count <= 0) {
            throw new IOException("answer ends before its time");
        }
        return count;
    }
}
