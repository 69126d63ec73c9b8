package io.cachedhive.worker.handover;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.store.BlockOrigin;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.transport.WorkerConnections;
import io.cachedhive.worker.ring.RingRegistry;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import static com.google.common.collect.Lists.partition;
import static java.util.Objects.requireNonNull;

/**
 * Removes this worker from its cluster. The worker announces that it is draining and waits for a ring without it. It
 * then names its blocks to their new owners, the hottest first, which read them from here. It stops when they have the
 * blocks and no reads arrive any more, or at the deadline. It serves reads all the time.
 */
public final class Drain
        implements AutoCloseable
{
    private static final Logger log = Logger.get(Drain.class);

    private static final long POLL_MILLIS = 50;
    // by then, few readers still use the previous ring
    private static final int QUIET_POLLS = 20;
    private static final int MAX_BLOCKS = 1 << 20;
    private static final int LOOKED_UP_AT_ONCE = 256;

    private final BlockStore store;
    private final RingRegistry rings;
    private final Optional<String> zone;
    private final WorkerConnections connections;
    private final ChunkSizes chunkSizes;
    private final HandOverCounters counters;
    private final LongSupplier nanoTime;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile LongSupplier readsBegun = () -> 0;
    private volatile LongSupplier readsActive = () -> 0;

    @GuardedBy("this")
    private State state = State.NOT_LEAVING;
    @GuardedBy("this")
    private Optional<Thread> thread = Optional.empty();
    @GuardedBy("this")
    private long deadlineNanos;
    @GuardedBy("this")
    private long blocks;
    @GuardedBy("this")
    private long givenBlocks;
    // requests for a drain whose answers are not written yet
    @GuardedBy("this")
    private int openRequests;

    public enum State
    {
        NOT_LEAVING,
        /**
         * The newest ring still contains this worker.
         */
        WAITING_FOR_RING,
        HANDING_OVER,
        /**
         * The new owners have received the blocks; reads that use the previous ring are still served.
         */
        FINISHING,
        ENDED,
    }

    /**
     * The progress of a drain.
     *
     * @param millisLeft milliseconds until the deadline; 0 if the worker is not draining
     * @param blocks blocks to transfer; 0 before the transfer begins
     * @param givenBlocks blocks that their new owners have
     */
    public record Progress(State state, long millisLeft, long blocks, long givenBlocks) {}

    private record FilePlace(FileVersion version, long locationHash, long chunkSizeBytes) {}

    Drain(BlockStore store, RingRegistry rings, Optional<String> zone, WorkerConnections connections, ChunkSizes chunkSizes, HandOverCounters counters, LongSupplier nanoTime)
    {
        this.store = requireNonNull(store, "store is null");
        this.rings = requireNonNull(rings, "rings is null");
        this.zone = requireNonNull(zone, "zone is null");
        this.connections = requireNonNull(connections, "connections is null");
        this.chunkSizes = requireNonNull(chunkSizes, "chunkSizes is null");
        this.counters = requireNonNull(counters, "counters is null");
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
    }

    /**
     * Sets the counters of reads. They are set later because the server is created after this.
     *
     * @param begun returns the number of reads since the process started
     * @param active returns the number of unanswered requests
     */
    public void setReads(LongSupplier begun, LongSupplier active)
    {
        this.readsBegun = requireNonNull(begun, "begun is null");
        this.readsActive = requireNonNull(active, "active is null");
    }

    /**
     * Starts draining, or sets another deadline if the worker is already draining.
     *
     * @return the progress before the drain does anything, or at the change of the deadline
     */
    public synchronized Progress start(Duration deadline)
    {
        deadlineNanos = nanoTime.getAsLong() + deadline.toNanos();
        if (state == State.NOT_LEAVING) {
            // first, because a worker without this thread would leave the ring and never end
            thread = Optional.of(Thread.ofPlatform().daemon().name("drain").start(this::run));
            state = State.WAITING_FOR_RING;
            blocks = 0;
            givenBlocks = 0;
            log.info("Draining within %s ms", deadline.toMillis());
        }
        return progress();
    }

    /**
     * Keeps the process from exiting until the returned object is closed, so that a request that starts a drain is
     * answered even if the drain ends at once.
     */
    public synchronized OpenRequest openRequest()
    {
        openRequests++;
        return this::closeRequest;
    }

    /**
     * A request whose answer is not written yet.
     */
    public interface OpenRequest
            extends AutoCloseable
    {
        @Override
        void close();
    }

    private synchronized void closeRequest()
    {
        openRequests--;
        completeIfEnded();
    }

    @GuardedBy("this")
    private void completeIfEnded()
    {
        if (state == State.ENDED && openRequests == 0) {
            ended.complete(null);
        }
    }

    /**
     * Cancels the drain; the coordinator then adds this worker to the ring again.
     *
     * @return false if the drain has already completed
     */
    public synchronized boolean cancel()
    {
        if (state == State.ENDED) {
            return false;
        }
        stop();
        return true;
    }

    @GuardedBy("this")
    private void stop()
    {
        thread.ifPresent(Thread::interrupt);
        thread = Optional.empty();
        if (state != State.ENDED) {
            state = State.NOT_LEAVING;
        }
    }

    public synchronized boolean isLeaving()
    {
        return state != State.NOT_LEAVING;
    }

    public synchronized Progress progress()
    {
        return new Progress(state, state == State.NOT_LEAVING ? 0 : millisLeft(), blocks, givenBlocks);
    }

    /**
     * Completes when the drain is complete, the requests for it are answered, and the process should exit.
     */
    public CompletableFuture<Void> ended()
    {
        return ended;
    }

    private synchronized long millisLeft()
    {
        return Math.max(0, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - nanoTime.getAsLong()));
    }

    private void run()
    {
        try {
            Optional<HashRing> ring = awaitRing();
            if (ring.isPresent() && enter(State.HANDING_OVER)) {
                handOver(ring.get());
            }
            if (enter(State.FINISHING)) {
                awaitQuiet();
            }
        }
        catch (InterruptedException _) {
            // cancelled, or the process is stopping
            return;
        }
        catch (RuntimeException | Error e) {
            log.error(e, "Hand-over failed: the new owners will fetch from the origins");
        }
        if (enter(State.ENDED)) {
            Progress progress = progress();
            log.info("Drained; %s of %s blocks are at their new owners", progress.givenBlocks(), progress.blocks());
            synchronized (this) {
                completeIfEnded();
            }
        }
    }

    /**
     * Changes the state.
     *
     * @return false if this thread no longer runs the drain
     */
    private synchronized boolean enter(State next)
    {
        if (thread.isEmpty() || thread.get() != Thread.currentThread()) {
            return false;
        }
        state = next;
        return true;
    }

    @SuppressWarnings("WaitNotInLoop") // callers check their condition again after a spurious wakeup
    private synchronized void pause()
            throws InterruptedException
    {
        wait(POLL_MILLIS);
    }

    private Optional<HashRing> awaitRing()
            throws InterruptedException
    {
        while (millisLeft() > 0) {
            Optional<HashRing> ring = rings.newest()
                    .map(PublishedRing::ring)
                    .filter(newest -> !newest.isEmpty() && newest.member(store.workerId()).isEmpty());
            if (ring.isPresent()) {
                return ring;
            }
            pause();
        }
        log.warn("Timed out waiting for a ring without this cache worker; no blocks were handed over");
        return Optional.empty();
    }

    private void handOver(HashRing ring)
            throws InterruptedException
    {
        try (Successors successors = new Successors(connections, store.workerId(), this::millisLeft, this::given)) {
            for (BlockOrigin tier : BlockOrigin.values()) {
                List<BlockKey> hottest = store.contents().hottestBlocks(tier, MAX_BLOCKS);
                synchronized (this) {
                    blocks += hottest.size();
                }
                for (List<BlockKey> some : partition(hottest, LOOKED_UP_AT_ONCE)) {
                    if (millisLeft() == 0) {
                        return;
                    }
                    name(successors, ring, some);
                }
            }
            successors.finish();
        }
    }

    private void name(Successors successors, HashRing ring, List<BlockKey> keys)
            throws InterruptedException
    {
        Map<FileVersionId, Optional<FilePlace>> places = new HashMap<>();
        for (BlockKey key : keys) {
            Optional<FilePlace> place = places.computeIfAbsent(key.file(), this::place);
            if (place.isPresent()) {
                add(successors, ring, key, place.get());
            }
        }
    }

    /**
     * Returns the location of a file, or empty if its version is provisional or has been dropped.
     */
    private Optional<FilePlace> place(FileVersionId id)
    {
        return store.file(id)
                .filter(metadata -> !metadata.provisional())
                .map(FileMetadata::version)
                .map(version -> new FilePlace(version, ChunkKey.locationHash(version.origin(), version.location()), chunkSizes.get(version.origin())));
    }

    private void add(Successors successors, HashRing ring, BlockKey key, FilePlace place)
            throws InterruptedException
    {
        long position = (long) key.index() * store.blockSizeBytes();
        // readers in this zone ask the owner within the zone
        Optional<Peer> owner = ring.ownerWithin(ChunkKey.at(place.locationHash(), position, place.chunkSizeBytes()), zone)
                .flatMap(id -> rings.newest().flatMap(newest -> newest.address(id)).map(address -> new Peer(id, address)));
        if (owner.isPresent()) {
            successors.add(owner.get(), place.version(), key.index(), place.version().blockLength(key.index(), store.blockSizeBytes()));
        }
    }

    private void given(int count)
    {
        counters.addGiven(count);
        synchronized (this) {
            givenBlocks += count;
        }
    }

    private void awaitQuiet()
            throws InterruptedException
    {
        int quiet = 0;
        long begun = readsBegun.getAsLong();
        while (quiet < QUIET_POLLS && millisLeft() > 0) {
            pause();
            long now = readsBegun.getAsLong();
            quiet = now == begun && readsActive.getAsLong() == 0 ? quiet + 1 : 0;
            begun = now;
        }
    }

    /**
     * Stops the drain, because the process stops for another reason.
     */
    @Override
    public synchronized void close()
    {
        stop();
    }
}
