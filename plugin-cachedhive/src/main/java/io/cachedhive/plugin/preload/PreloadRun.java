package io.cachedhive.plugin.preload;

import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.Message.Preloaded;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import static java.util.Objects.requireNonNull;

/**
 * Sends pieces to their owners, a few at a time to each, and waits for nothing itself.
 */
final class PreloadRun
{
    /**
     * Enough to keep a cache worker's requests to its origin going.
     */
    private static final int PIECES_PER_WORKER = 4;

    /**
     * For one piece: a megabyte a second, at the least.
     */
    private static final long PIECE_TIMEOUT_MILLIS = 60_000;

    private final WorkerAdmin workerAdmin;
    private final PublishedRing ring;
    private final String table;
    private final PreloadJob job;

    // guarded by this
    private final Map<WorkerAddress, Queue<PreloadPiece>> waiting = new HashMap<>();
    private int unfinished;

    private final CompletableFuture<Void> done = new CompletableFuture<>();

    private PreloadRun(WorkerAdmin workerAdmin, PublishedRing ring, String table, PreloadJob job)
    {
        this.workerAdmin = requireNonNull(workerAdmin, "workerAdmin is null");
        this.ring = requireNonNull(ring, "ring is null");
        this.table = requireNonNull(table, "table is null");
        this.job = requireNonNull(job, "job is null");
    }

    /**
     * @param table {@code schema.table}
     * @param job counts what is done and what fails
     * @return done when every piece is loaded or given up; never fails
     */
    static CompletableFuture<Void> start(WorkerAdmin workerAdmin, PublishedRing ring, String table, PreloadJob job, List<PreloadPiece> pieces)
    {
        PreloadRun run = new PreloadRun(workerAdmin, ring, table, job);
        run.begin(pieces);
        return run.done;
    }

    private void begin(List<PreloadPiece> pieces)
    {
        List<WorkerAddress> owners;
        synchronized (this) {
            for (PreloadPiece piece : pieces) {
                CacheWorkerId owner = ring.ring().owner(piece.chunk()).orElseThrow();
                Optional<WorkerAddress> address = ring.address(owner);
                if (address.isEmpty()) {
                    job.addFailed(piece.length(), "no cache worker answers for the chunks of %s: the table cache.nodes tells which are missing".formatted(owner));
                    continue;
                }
                waiting.computeIfAbsent(address.get(), _ -> new ArrayDeque<>()).add(piece);
                unfinished++;
            }
            if (unfinished == 0) {
                done.complete(null);
                return;
            }
            owners = List.copyOf(waiting.keySet());
        }
        for (WorkerAddress owner : owners) {
            for (int i = 0; i < PIECES_PER_WORKER; i++) {
                sendNext(owner);
            }
        }
    }

    private void sendNext(WorkerAddress owner)
    {
        PreloadPiece piece;
        synchronized (this) {
            piece = waiting.get(owner).poll();
        }
        if (piece == null) {
            return;
        }
        workerAdmin.preload(owner, piece.origin().index(), piece.file(), piece.position(), piece.length(), ring.epoch(), table, PIECE_TIMEOUT_MILLIS)
                .whenCompleteAsync((preloaded, failure) -> finish(owner, piece, preloaded, failure));
    }

    private void finish(WorkerAddress owner, PreloadPiece piece, Preloaded preloaded, Throwable failure)
    {
        if (failure != null) {
            Throwable cause = failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            job.addFailed(piece.length(), "the cache worker on %s did not load %s: %s".formatted(owner, piece.file().location(), cause.getMessage()));
        }
        else {
            // the worker counts whole blocks; what it fetched beyond the piece is not the job's
            long failedBytes = Math.min(preloaded.failedBytes(), piece.length());
            if (failedBytes > 0) {
                job.addFailed(failedBytes, "the cache worker on %s could not load %s: %s"
                        .formatted(owner, piece.file().location(), preloaded.problem().orElse("it did not say why")));
            }
            job.addDone(piece.length() - failedBytes);
        }
        synchronized (this) {
            unfinished--;
            if (unfinished == 0) {
                done.complete(null);
                return;
            }
        }
        sendNext(owner);
    }
}
