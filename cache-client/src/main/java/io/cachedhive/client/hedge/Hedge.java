package io.cachedhive.client.hedge;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

import static java.util.Objects.requireNonNull;

/**
 * A range that is asked of the origin while its reader still waits for a cache worker. Its bytes go into memory of its own: the reader's belongs to
 * the answer of the worker. One of {@link #await} and {@link #cancel} has to follow.
 */
public final class Hedge
{
    /**
     * Reads the range from the origin.
     */
    public interface Origin
    {
        void readFully(byte[] target)
                throws IOException;
    }

    private final int length;
    private final Runnable release;
    private final CompletableFuture<byte[]> result = new CompletableFuture<>();
    private Future<?> running = CompletableFuture.completedFuture(null);

    @GuardedBy("this")
    private boolean started;
    @GuardedBy("this")
    private boolean ended;
    @GuardedBy("this")
    private boolean unwanted;
    @GuardedBy("this")
    private boolean released;

    Hedge(int length, Runnable release)
    {
        this.length = length;
        this.release = requireNonNull(release, "release is null");
    }

    /**
     * @param arrived called when the bytes are there
     * @throws java.util.concurrent.RejectedExecutionException if too many are under way
     */
    void start(Origin origin, ExecutorService executor, Runnable arrived)
    {
        running = executor.submit(() -> read(origin, arrived));
    }

    private void read(Origin origin, Runnable arrived)
    {
        synchronized (this) {
            if (unwanted) {
                return;
            }
            started = true;
        }
        try {
            byte[] bytes = new byte[length];
            origin.readFully(bytes);
            result.complete(bytes);
            arrived.run();
        }
        catch (IOException | RuntimeException | Error e) {
            // the reader asks the origin itself, and hears what is wrong with it
            result.completeExceptionally(e);
        }
        finally {
            synchronized (this) {
                ended = true;
                releaseIfDone();
            }
        }
    }

    @GuardedBy("this")
    private void releaseIfDone()
    {
        if (unwanted && (ended || !started) && !released) {
            released = true;
            release.run();
        }
    }

    public int length()
    {
        return length;
    }

    /**
     * @return the bytes; empty if the origin failed
     */
    public Optional<byte[]> await()
            throws InterruptedException
    {
        try {
            return Optional.of(result.get());
        }
        catch (ExecutionException e) {
            return Optional.empty();
        }
        finally {
            cancel();
        }
    }

    /**
     * Nobody wants the bytes any more.
     *
     * @return whether somebody could have wanted them until now
     */
    public boolean cancel()
    {
        boolean wanted;
        synchronized (this) {
            wanted = !unwanted;
            unwanted = true;
            releaseIfDone();
        }
        running.cancel(true);
        return wanted;
    }
}
