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
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import static java.util.Objects.requireNonNull;

/**
 * Fetches one range: first from other workers that may have blocks of it, then the rest from the origin, with one GET
 * for each run of adjacent blocks. A broken stream is resumed with the first incomplete block. Each block is passed to
 * its waiters as soon as it is complete.
 */
final class RangeFetch
{
    private static final Logger log = Logger.get(RangeFetch.class);

    private static final int MAX_STREAM_FAILURES = 3;
    private static final int MAX_DROPS = 3;
    private static final int CHUNK_BYTES = 128 << 10;

    private final Services services;
    private final WaiterQueues waiterQueues;
    private final RangeRequest request;
    private final FetchTarget target;
    private final String bucket;
    private final int blockSizeBytes;
    // excludes blocks received from other workers
    private List<WantedBlock> blocks;
    // the index of the first block that is not complete
    private int next;
    // how often the file was dropped during the fetch of one of its blocks
    private int drops;

    /**
     * The services that all fetches share.
     *
     * @param heap limits the blocks on the heap
     * @param framePatience how long a block waits for a frame
     */
    record Services(
            BlockStore store,
            RequestLimits limits,
            WorkerCounters counters,
            ProvisionalVersions provisionals,
            ByteBudget heap,
            Duration framePatience,
            PeerSource peers)
    {
        Services
        {
            requireNonNull(store, "store is null");
            requireNonNull(limits, "limits is null");
            requireNonNull(counters, "counters is null");
            requireNonNull(provisionals, "provisionals is null");
            requireNonNull(heap, "heap is null");
            requireNonNull(framePatience, "framePatience is null");
            requireNonNull(peers, "peers is null");
        }
    }

    /**
     * Provides the waiters of blocks.
     */
    interface WaiterQueues
    {
        /**
         * Returns the waiters of a block, which must then be notified.
         *
         * @return empty if they have been notified before
         */
        Optional<List<BlockWaiter>> take(FileFetches file, WantedBlock block);

        /**
         * Handles a throttled request: blocks that still have waiters are requested again after a pause, or fail.
         *
         * @return whether all blocks failed
         */
        boolean askAgain(FileFetches file, List<WantedBlock> blocks);
    }

    RangeFetch(Services services, WaiterQueues waiterQueues, RangeRequest request)
    {
        this.services = requireNonNull(services, "services is null");
        this.waiterQueues = requireNonNull(waiterQueues, "waiterQueues is null");
        this.request = requireNonNull(request, "request is null");
        this.target = request.file().target;
        this.blocks = request.blocks();
        this.bucket = target.location().bucket();
        this.blockSizeBytes = services.store().blockSizeBytes();
    }

    /**
     * Runs the fetch. Returns when every block has been passed on, has failed, or will be requested again.
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
                log.debug("GET of %s was interrupted: %s", target.version().location(), e);
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
            waiterQueues.take(request.file(), block).ifPresent(waiters -> waiters.forEach(waiter -> waiter.handedOver(index)));
        });
        blocks = ImmutableList.copyOf(wanted.values());
    }

    private void fail(ObjectSourceException failure)
    {
        List<WantedBlock> left = blocks.subList(next, blocks.size());
        switch (failure.reason()) {
            case GONE, CHANGED -> {
                target.origin().health().succeeded(bucket);
                CompletableFuture<Void> dropped = services.provisionals().versionChanged(target);
                services.peers().versionChanged(target.id());
                // this thread does not wait for disks
                dropped.thenRun(() -> failAll(left, NoCause.VERSION_GONE));
            }
            case DENIED -> {
                target.origin().health().failed(bucket, describe(), failure);
                for (WantedBlock block : left) {
                    waiterQueues.take(request.file(), block).ifPresent(waiters -> waiters.forEach(waiter -> waiter.denied(block.index)));
                }
            }
            case ENCRYPTED -> {
                target.origin().health().succeeded(bucket);
                failAll(left, NoCause.ENCRYPTED);
            }
            case THROTTLED -> {
                if (waiterQueues.askAgain(request.file(), left)) {
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
     * Fails all blocks whose waiters have not been notified yet.
     */
    void failRest(NoCause cause)
    {
        failAll(request.blocks(), cause);
    }

    private void failAll(List<WantedBlock> blocks, NoCause cause)
    {
        for (WantedBlock block : blocks) {
            waiterQueues.take(request.file(), block).ifPresent(waiters -> waiters.forEach(waiter -> waiter.failed(block.index, cause)));
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
        Optional<String> bound = services.store().file(target.id()).flatMap(FileMetadata::etag);
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
                    // blocks offered by clients have no ETag: the file need not have changed, but they cannot be kept
                    // with these blocks
                    services.store().flushes().drop(target.id());
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
                    // dropped by a flush, or because the file was replaced, which only another GET can determine
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
     * Receives a block.
     *
     * @return false if the file was dropped meanwhile; the waiters have not been notified then
     */
    private boolean receive(ObjectRange range, WantedBlock block, ObjectState state, boolean provisional, long flushes, byte[] chunk)
            throws IOException
    {
        int length = target.version().blockLength(block.index, blockSizeBytes);
        long etagDigest = state.etag().map(ETags::digest).orElse(ETags.NONE);
        Optional<Fill> fill = services.store().awaitFill(
                target.id().block(block.index),
                length,
                etagDigest,
                KeptTerms.of(services.store(), block.terms),
                flushes,
                services.framePatience());
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
        List<BlockWaiter> waiters = waiterQueues.take(request.file(), block).orElse(ImmutableList.of());
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
            throw new IOException("answer is truncated");
        }
        return count;
    }
}
