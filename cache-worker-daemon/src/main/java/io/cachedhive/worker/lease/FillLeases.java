package io.cachedhive.worker.lease;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.wire.FillMessage;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.Fill;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.worker.fetch.ByteBudget;
import io.cachedhive.worker.fetch.KeptTerms;
import io.cachedhive.worker.fetch.OverloadCause;
import io.cachedhive.worker.fetch.SharedBytes;
import io.cachedhive.worker.fetch.WorkerCounters;
import io.cachedhive.worker.time.WorkerTimer;
import io.cachedhive.worker.time.WorkerTimer.Scheduled;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32C;

import static java.time.temporal.ChronoUnit.SECONDS;
import static java.util.Objects.requireNonNull;

/**
 * Leases for blocks that this worker cannot fetch. One client at a time holds the lease to read a block through Trino's
 * file system and to offer its bytes; other requests wait briefly for them.
 *
 * <p>An offer is accepted only from the lease holder, with the right length and checksum, and only if the client found
 * the file's length and last-modified time unchanged after reading. Leased blocks have no ETag. A version so recent
 * that an overwrite could go unnoticed (by this host's clock) is therefore served to the waiters but not stored.
 *
 * <p>One lock guards the table. It is not held while waiters are called or bytes are copied.
 */
public final class FillLeases
{
    static final Duration LEASE_LIFETIME = Duration.ofSeconds(10);
    static final Duration WAIT = Duration.ofSeconds(2);
    private static final Duration PROVISIONAL = Duration.ofSeconds(2);

    private final BlockStore store;
    private final WorkerCounters counters;
    private final WorkerTimer timer;
    private final ByteBudget heap;

    private final ReentrantLock lock = new ReentrantLock();
    @GuardedBy("lock")
    private final Map<BlockKey, LeasedBlock> blocks = new HashMap<>();
    @GuardedBy("lock")
    private final Map<Long, LeasedBlock> leases = new HashMap<>();

    /**
     * A block to be leased.
     *
     * @param table {@code schema.table} of the read
     * @param terms the terms on which the block is kept
     */
    public record LeaseTarget(FileVersion version, BlockKey key, int length, String table, FillTerms terms)
    {
        public LeaseTarget
        {
            requireNonNull(version, "version is null");
            requireNonNull(key, "key is null");
            requireNonNull(table, "table is null");
            requireNonNull(terms, "terms is null");
        }
    }

    private static final class LeasedBlock
    {
        private final LeaseTarget target;
        private final Deque<Waiting> waiting = new ArrayDeque<>();
        private Optional<Holder> holder = Optional.empty();
        // an offer is being copied, so the lease cannot pass to another client
        private boolean filling;

        private LeasedBlock(LeaseTarget target)
        {
            this.target = target;
        }
    }

    private record Holder(long lease, Object owner, Scheduled expiry, long flushes) {}

    private record Waiting(LeaseWaiter waiter, Scheduled timeout) {}

    public FillLeases(BlockStore store, WorkerCounters counters, WorkerTimer timer, ByteBudget heap)
    {
        this.store = requireNonNull(store, "store is null");
        this.counters = requireNonNull(counters, "counters is null");
        this.timer = requireNonNull(timer, "timer is null");
        this.heap = requireNonNull(heap, "heap is null");
    }

    /**
     * Grants the lease to the first waiter that may have it; other waiters wait. Exactly one call to the waiter
     * follows, unless it is abandoned.
     */
    public void ask(LeaseTarget target, LeaseWaiter waiter)
    {
        int index = target.key().index();
        if (store.file(target.key().file()).flatMap(FileMetadata::etag).isPresent()) {
            // bytes without an ETag cannot be combined with blocks that have one
            waiter.failed(index, NoCause.ORIGIN_FAILED);
            return;
        }
        Runnable answer;
        lock.lock();
        try {
            LeasedBlock known = blocks.get(target.key());
            if (known == null && isPresent(target.key())) {
                answer = () -> waiter.present(index);
            }
            else if (known == null && !waiter.mayLease()) {
                answer = () -> waiter.failed(index, NoCause.ABSENT);
            }
            else {
                LeasedBlock block = known == null ? new LeasedBlock(target) : known;
                blocks.put(target.key(), block);
                if (block.holder.isPresent() || !waiter.mayLease()) {
                    block.waiting.addLast(new Waiting(waiter, timer.schedule(WAIT, () -> timedOut(block, waiter))));
                    return;
                }
                long lease = grant(block, waiter.owner());
                answer = () -> waiter.leased(index, lease);
            }
        }
        finally {
            lock.unlock();
        }
        answer.run();
    }

    private boolean isPresent(BlockKey key)
    {
        Optional<PinnedBlock> pinned = store.pin(key);
        pinned.ifPresent(PinnedBlock::close);
        return pinned.isPresent() || store.isOnSsd(key);
    }

    @GuardedBy("lock")
    private long grant(LeasedBlock block, Object owner)
    {
        // unpredictable, and never 0
        long lease;
        do {
            lease = ThreadLocalRandom.current().nextLong();
        }
        while (lease == 0 || leases.containsKey(lease));
        long granted = lease;
        block.holder = Optional.of(new Holder(granted, owner, timer.schedule(LEASE_LIFETIME, () -> end(granted, Optional.empty())), store.flushes().count()));
        leases.put(granted, block);
        return granted;
    }

    private void timedOut(LeasedBlock block, LeaseWaiter waiter)
    {
        boolean removed;
        lock.lock();
        try {
            removed = block.waiting.removeIf(waiting -> waiting.waiter() == waiter);
            forgetIfIdle(block);
        }
        finally {
            lock.unlock();
        }
        if (removed) {
            waiter.failed(block.target.key().index(), NoCause.LEASE_TIMEOUT);
        }
    }

    @GuardedBy("lock")
    private void forgetIfIdle(LeasedBlock block)
    {
        if (block.holder.isEmpty() && block.waiting.isEmpty()) {
            blocks.remove(block.target.key(), block);
        }
    }

    public void abandon(LeaseWaiter waiter)
    {
        lock.lock();
        try {
            for (LeasedBlock block : ImmutableList.copyOf(blocks.values())) {
                block.waiting.removeIf(waiting -> {
                    if (waiting.waiter() != waiter) {
                        return false;
                    }
                    waiting.timeout().cancel();
                    return true;
                });
                forgetIfIdle(block);
            }
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Releases a lease, so that the next waiter can have it. Does nothing if another owner holds the lease.
     */
    public void release(Object owner, long lease)
    {
        end(lease, Optional.of(owner));
    }

    /**
     * Releases all leases of a connection that has closed.
     */
    public void closed(Object owner)
    {
        List<Long> held = new ArrayList<>();
        lock.lock();
        try {
            leases.forEach((lease, block) -> {
                if (block.holder.isPresent() && block.holder.get().owner() == owner) {
                    held.add(lease);
                }
            });
        }
        finally {
            lock.unlock();
        }
        held.forEach(lease -> release(owner, lease));
    }

    private void end(long lease, Optional<Object> owner)
    {
        Optional<Waiting> next = Optional.empty();
        long granted = 0;
        int index;
        lock.lock();
        try {
            LeasedBlock block = leases.get(lease);
            if (block == null || block.filling || (owner.isPresent() && block.holder.orElseThrow().owner() != owner.get())) {
                return;
            }
            removeHolder(block);
            next = removeNext(block);
            if (next.isPresent()) {
                granted = grant(block, next.get().waiter().owner());
            }
            index = block.target.key().index();
            forgetIfIdle(block);
        }
        finally {
            lock.unlock();
        }
        if (next.isPresent()) {
            next.get().waiter().leased(index, granted);
        }
    }

    @GuardedBy("lock")
    private void removeHolder(LeasedBlock block)
    {
        Holder holder = block.holder.orElseThrow();
        holder.expiry().cancel();
        leases.remove(holder.lease());
        block.holder = Optional.empty();
    }

    private static Optional<Waiting> removeNext(LeasedBlock block)
    {
        for (Iterator<Waiting> candidates = block.waiting.iterator(); candidates.hasNext(); ) {
            Waiting candidate = candidates.next();
            if (candidate.waiter().mayLease()) {
                candidates.remove();
                candidate.timeout().cancel();
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }

    /**
     * Stores the bytes that the lease holder offers. The lease ends in any case.
     *
     * @return completes with empty if the bytes were accepted, otherwise with the reason for the rejection; if the file
     *         was replaced, only when a crash can no longer bring the older version back
     */
    public CompletableFuture<Optional<String>> fill(Object owner, FillMessage.Fill offer)
    {
        LeasedBlock block;
        long flushes;
        lock.lock();
        try {
            block = leases.get(offer.lease());
            if (block == null || block.filling || block.holder.orElseThrow().owner() != owner) {
                return CompletableFuture.completedFuture(Optional.of("the lease is not of this connection, or has ended"));
            }
            block.filling = true;
            flushes = block.holder.orElseThrow().flushes();
        }
        finally {
            lock.unlock();
        }
        Optional<String> refusal = Optional.of("the worker failed");
        try {
            refusal = check(block.target, offer);
            if (refusal.isEmpty() && isReplaced(block.target.version(), offer)) {
                refusal = Optional.of("the file has another version now");
                Optional<String> replaced = refusal;
                return dropReplaced(block.target).thenApply(_ -> replaced);
            }
            if (refusal.isEmpty()) {
                refusal = take(block, offer, flushes);
            }
            return CompletableFuture.completedFuture(refusal);
        }
        finally {
            lock.lock();
            try {
                block.filling = false;
            }
            finally {
                lock.unlock();
            }
            if (refusal.isPresent()) {
                end(offer.lease(), Optional.empty());
            }
        }
    }

    private static Optional<String> check(LeaseTarget target, FillMessage.Fill offer)
    {
        int length = offer.payload().remaining();
        if (length != target.length()) {
            return Optional.of("the block has %s bytes, not %s".formatted(target.length(), length));
        }
        CRC32C checksum = new CRC32C();
        checksum.update(offer.payload().duplicate());
        if ((int) checksum.getValue() != offer.checksum()) {
            return Optional.of("the bytes do not have the checksum that came with them");
        }
        return Optional.empty();
    }

    private static boolean isReplaced(FileVersion version, FillMessage.Fill offer)
    {
        return !version.matches(offer.observedLength(), offer.observedLastModifiedMillis());
    }

    private CompletableFuture<Boolean> dropReplaced(LeaseTarget target)
    {
        if (store.file(target.key().file()).isPresent()) {
            counters.addVersionChange();
        }
        return store.flushes().drop(target.key().file());
    }

    private Optional<String> take(LeasedBlock block, FillMessage.Fill offer, long flushes)
    {
        LeaseTarget target = block.target;
        Instant settled = Instant.ofEpochMilli(target.version().lastModifiedMillis()).truncatedTo(SECONDS).plus(PROVISIONAL);
        if (!timer.now().isBefore(settled)) {
            if (!store.bind(target.version(), Optional.empty(), false, target.table())) {
                return Optional.of("the worker has blocks of this file under an ETag, and bytes without one cannot join them");
            }
            Optional<Fill> frame = store.beginFill(target.key(), target.length(), ETags.NONE, KeptTerms.of(store, target.terms()), flushes);
            if (frame.isPresent()) {
                try (Fill fill = frame.get()) {
                    fill.buffer().put(0, offer.payload(), offer.payload().position(), target.length());
                    Optional<PinnedBlock> stored = fill.commit();
                    if (stored.isEmpty()) {
                        return Optional.of("the file version was dropped meanwhile");
                    }
                    try (PinnedBlock _ = stored.get()) {
                        finish(block).forEach(waiter -> waiter.stored(target.key().index()));
                    }
                    return Optional.empty();
                }
            }
        }
        handOver(block, offer);
        return Optional.empty();
    }

    // serves the bytes to the waiters without storing them
    private void handOver(LeasedBlock block, FillMessage.Fill offer)
    {
        int index = block.target.key().index();
        List<LeaseWaiter> waiters = finish(block);
        if (waiters.isEmpty()) {
            return;
        }
        Optional<SharedBytes> bytes = SharedBytes.allocate(heap, block.target.length());
        if (bytes.isEmpty()) {
            counters.addOverloaded(OverloadCause.HEAP, waiters.size());
            waiters.forEach(waiter -> waiter.failed(index, NoCause.OVERLOADED));
            return;
        }
        try {
            bytes.get().fill(offer.payload());
            bytes.get().complete(ETags.NONE);
            waiters.forEach(waiter -> waiter.bytes(index, bytes.get()));
        }
        finally {
            bytes.get().release();
        }
    }

    private List<LeaseWaiter> finish(LeasedBlock block)
    {
        lock.lock();
        try {
            removeHolder(block);
            blocks.remove(block.target.key(), block);
            block.waiting.forEach(waiting -> waiting.timeout().cancel());
            List<LeaseWaiter> waiters = block.waiting.stream().map(Waiting::waiter).toList();
            block.waiting.clear();
            return waiters;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Returns the number of leases that clients hold.
     */
    public int leaseCount()
    {
        lock.lock();
        try {
            return leases.size();
        }
        finally {
            lock.unlock();
        }
    }
}
