package io.cachedhive.worker.handover;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.wire.HandOverMessage.FileBlocks;
import io.cachedhive.protocol.wire.HandOverMessage.HandOver;
import io.cachedhive.protocol.wire.HandOverMessage.HandedOver;
import io.cachedhive.transport.WorkerConnections;
import io.cachedhive.transport.WorkerException;
import io.cachedhive.transport.WorkerLink;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * The new owners of a draining worker's blocks. It names blocks to each of them in lots, in the order of addition, with
 * a limited number of lots in progress. Closing it abandons the remaining lots. Only one thread may add blocks.
 */
final class Successors
        implements AutoCloseable
{
    private static final Logger log = Logger.get(Successors.class);

    private static final int LOT_BYTES = 16 << 20;
    private static final int LOT_BLOCKS = 256;
    private static final long LOT_MILLIS = 30_000;
    private static final int LOTS_UNDER_WAY = 2;
    private static final int LOTS_WAITING = 4;
    private static final int MAX_LOTS = LOTS_UNDER_WAY + LOTS_WAITING;
    private static final int MAX_FAILURES = 3;
    // limits the wait for a successor that does not receive its blocks, because other successors wait behind it
    private static final long PATIENCE_MILLIS = 2000;
    private static final long DEADLINE_CHECK_MILLIS = 100;

    private final WorkerConnections connections;
    private final CacheWorkerId self;
    private final LongSupplier millisLeft;
    private final IntConsumer given;
    private final Map<Peer, Successor> successors = new LinkedHashMap<>();

    /**
     * @param millisLeft returns the milliseconds until the deadline
     * @param given called from several threads with the number of blocks that a successor has received
     */
    Successors(WorkerConnections connections, CacheWorkerId self, LongSupplier millisLeft, IntConsumer given)
    {
        this.connections = requireNonNull(connections, "connections is null");
        this.self = requireNonNull(self, "self is null");
        this.millisLeft = requireNonNull(millisLeft, "millisLeft is null");
        this.given = requireNonNull(given, "given is null");
    }

    void add(Peer successor, FileVersion file, int block, int length)
            throws InterruptedException
    {
        successors.computeIfAbsent(successor, Successor::new).add(file, block, length);
    }

    /**
     * Waits until all lots have been received or abandoned.
     */
    void finish()
            throws InterruptedException
    {
        for (Successor successor : successors.values()) {
            successor.sendLot();
        }
        for (Successor successor : successors.values()) {
            successor.finish();
        }
    }

    @Override
    public void close()
    {
        successors.values().forEach(Successor::close);
    }

    private final class Successor
    {
        private final Peer peer;
        private final Semaphore places = new Semaphore(MAX_LOTS);
        @GuardedBy("this")
        private final Queue<HandOver> waiting = new ArrayDeque<>();
        @GuardedBy("this")
        private int underWay;
        @GuardedBy("this")
        private int failures;
        @GuardedBy("this")
        private boolean closed;
        // the next lot
        private Map<FileVersion, List<Integer>> files = new LinkedHashMap<>();
        private int blocks;
        private long bytes;

        private Successor(Peer peer)
        {
            this.peer = peer;
        }

        private void add(FileVersion file, int block, int length)
                throws InterruptedException
        {
            files.computeIfAbsent(file, _ -> new ArrayList<>()).add(block);
            blocks++;
            bytes += length;
            if (blocks == LOT_BLOCKS || bytes >= LOT_BYTES) {
                sendLot();
            }
        }

        private void sendLot()
                throws InterruptedException
        {
            if (blocks > 0 && isWorthwhile() && places.tryAcquire(Math.min(PATIENCE_MILLIS, millisLeft.getAsLong()), TimeUnit.MILLISECONDS)) {
                List<FileBlocks> named = files.entrySet().stream().map(file -> new FileBlocks(file.getKey(), file.getValue())).toList();
                synchronized (this) {
                    waiting.add(new HandOver(self, named));
                }
                sendWaiting();
            }
            files = new LinkedHashMap<>();
            blocks = 0;
            bytes = 0;
        }

        private synchronized boolean isWorthwhile()
        {
            return !closed && failures < MAX_FAILURES && millisLeft.getAsLong() > 0;
        }

        private void finish()
                throws InterruptedException
        {
            // the deadline may change meanwhile
            long millis = millisLeft.getAsLong();
            while (millis > 0 && !places.tryAcquire(MAX_LOTS, Math.min(DEADLINE_CHECK_MILLIS, millis), TimeUnit.MILLISECONDS)) {
                millis = millisLeft.getAsLong();
            }
        }

        private synchronized void close()
        {
            closed = true;
            places.release(waiting.size());
            waiting.clear();
        }

        private void sendWaiting()
        {
            while (true) {
                HandOver lot;
                synchronized (this) {
                    if (underWay == LOTS_UNDER_WAY || waiting.isEmpty()) {
                        return;
                    }
                    lot = waiting.remove();
                    underWay++;
                }
                send(lot);
            }
        }

        private void send(HandOver lot)
        {
            if (!isWorthwhile()) {
                ended();
                return;
            }
            WorkerLink link = connections.peer(peer.address(), Optional.of(peer.id()));
            connections.ask(link, lot, HandedOver.class, Math.clamp(millisLeft.getAsLong(), 1, LOT_MILLIS)).whenComplete((answer, failure) -> {
                try {
                    answered(answer, failure);
                }
                finally {
                    ended();
                }
                sendWaiting();
            });
        }

        private void answered(HandedOver answer, Throwable failure)
        {
            synchronized (this) {
                if (closed) {
                    return;
                }
                failures = failure == null ? 0 : failures + 1;
            }
            if (failure == null) {
                given.accept(answer.blocks());
            }
            else {
                Object problem = failure instanceof WorkerException ? failure.getMessage() : failure;
                log.warn("Cache worker %s cannot pull blocks (%s); it will read them from the origin", peer.id(), problem);
            }
        }

        private void ended()
        {
            synchronized (this) {
                underWay--;
            }
            places.release();
        }
    }
}
