package io.cachedhive.worker.request;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.PreloadMessage.Preloaded;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.worker.fetch.BlockFetcher;
import io.cachedhive.worker.fetch.BlockFetcher.Priority;
import io.cachedhive.worker.fetch.BlockWaiter;
import io.cachedhive.worker.fetch.FetchTarget;
import io.cachedhive.worker.fetch.SharedBytes;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import static java.util.Objects.requireNonNull;

/**
 * Handles a PRELOAD request: fetches the missing blocks of a range with the lowest priority. For a provisional version,
 * the task ends when the version has been confirmed.
 */
final class PreloadTask
        implements BlockWaiter, ActiveRequests.Active
{
    // while the version is provisional, some fetched blocks cannot be kept
    private static final int MAX_ROUNDS = 3;

    private final BlockStore store;
    private final BlockFetcher fetcher;
    private final Executor executor;
    private final ClientRequest request;
    private final FetchTarget target;
    private final int firstBlock;
    private final int endBlock;

    @GuardedBy("this")
    private int round;
    @GuardedBy("this")
    private int waiting;
    @GuardedBy("this")
    private long presentBytes;
    // a fetch passed bytes to this task without keeping them
    @GuardedBy("this")
    private boolean unkept;
    @GuardedBy("this")
    private Optional<String> problem = Optional.empty();
    // why this worker cannot load the blocks now; they can be requested again later
    @GuardedBy("this")
    private Optional<NoCause> refusal = Optional.empty();
    private volatile boolean cancelled;

    /**
     * @param executor runs later rounds, because they access the store
     * @param endBlock the exclusive end of the range
     */
    PreloadTask(BlockStore store, BlockFetcher fetcher, Executor executor, ClientRequest request, FetchTarget target, int firstBlock, int endBlock)
    {
        this.store = requireNonNull(store, "store is null");
        this.fetcher = requireNonNull(fetcher, "fetcher is null");
        this.executor = requireNonNull(executor, "executor is null");
        this.request = requireNonNull(request, "request is null");
        this.target = requireNonNull(target, "target is null");
        this.firstBlock = firstBlock;
        this.endBlock = endBlock;
    }

    void start()
    {
        List<Integer> missing = new ArrayList<>();
        synchronized (this) {
            round++;
            unkept = false;
            for (int block = firstBlock; block < endBlock; block++) {
                if (!isPresent(target.id().block(block))) {
                    missing.add(block);
                }
                else if (round == 1) {
                    presentBytes += length(block);
                }
            }
            waiting = missing.size();
        }
        if (missing.isEmpty()) {
            finish();
            return;
        }
        fetcher.fetch(target, missing, Priority.PRELOAD, this);
        if (cancelled) {
            fetcher.abandon(target.id(), this);
        }
    }

    private boolean isPresent(BlockKey key)
    {
        if (store.isOnSsd(key)) {
            return true;
        }
        Optional<PinnedBlock> pinned = store.pin(key);
        pinned.ifPresent(PinnedBlock::close);
        return pinned.isPresent();
    }

    private int length(int block)
    {
        return target.version().blockLength(block, store.blockSizeBytes());
    }

    @Override
    public void stored(int block)
    {
        ended();
    }

    @Override
    public void bytes(int block, SharedBytes bytes)
    {
        synchronized (this) {
            unkept = true;
        }
        ended();
    }

    @Override
    public void present(int block)
    {
        synchronized (this) {
            presentBytes += length(block);
        }
        ended();
    }

    @Override
    public void denied(int block)
    {
        fail(target.origin().health().problem().orElse("the origin denies access"));
    }

    @Override
    public void failed(int block, NoCause cause)
    {
        if (cause == NoCause.UNAVAILABLE || cause == NoCause.OVERLOADED) {
            synchronized (this) {
                refusal = refusal.or(() -> Optional.of(cause));
            }
        }
        fail(switch (cause) {
            case VERSION_GONE -> "%s has another version at the origin".formatted(target.version().location());
            case ORIGIN_FAILED -> target.origin().health().problem().orElse("the origin failed at %s".formatted(target.version().location()));
            case ENCRYPTED -> "%s is encrypted with SSE-KMS: it is cached only with encryption at rest, or with s3.sse-kms-caching=ALLOWED in %s".formatted(
                    target.version().location(),
                    target.origin().file());
            default -> "the cache worker answers %s for %s".formatted(cause, target.version().location());
        });
    }

    private void fail(String reason)
    {
        synchronized (this) {
            problem = problem.or(() -> Optional.of(reason));
        }
        ended();
    }

    private void ended()
    {
        synchronized (this) {
            waiting--;
            if (waiting > 0) {
                return;
            }
        }
        Optional<CompletableFuture<Boolean>> confirmation = fetcher.confirmation(target.id());
        if (confirmation.isPresent()) {
            confirmation.get().thenAcceptAsync(this::confirmed, executor);
            return;
        }
        confirmed(true);
    }

    private void confirmed(boolean right)
    {
        boolean again;
        synchronized (this) {
            again = right && unkept && problem.isEmpty() && round < MAX_ROUNDS && !cancelled;
        }
        if (again) {
            start();
            return;
        }
        finish();
    }

    private void finish()
    {
        request.end();
        if (cancelled) {
            return;
        }
        long wanted = 0;
        long there = 0;
        for (int block = firstBlock; block < endBlock; block++) {
            wanted += length(block);
            there += isPresent(target.id().block(block)) ? length(block) : 0;
        }
        Message answer;
        synchronized (this) {
            if (there < wanted && problem.isEmpty()) {
                problem = Optional.of("%s bytes of %s were fetched and not kept: the file was replaced, or the cache is too small"
                        .formatted(wanted - there, target.version().location()));
            }
            long before = Math.min(presentBytes, there);
            answer = there < wanted && refusal.isPresent() ?
                    new BlockNo(firstBlock, refusal.get()) :
                    new Preloaded(there - before, before, wanted - there, problem);
        }
        request.send(answer);
    }

    @Override
    public void cancel()
    {
        cancelled = true;
        fetcher.abandon(target.id(), this);
    }
}
