package io.cachedhive.attack.setting;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import static java.util.Objects.requireNonNull;

/**
 * A legitimate client that reads beside an attack, until it is stopped.
 */
public final class ReadLoop
{
    private static final long PAUSE_MILLIS = 5;

    private final Target target;
    private final Thread thread;
    private final AtomicLong reads = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private final AtomicReference<String> firstFailure = new AtomicReference<>();
    private volatile boolean stopped;

    private ReadLoop(Target target)
    {
        this.target = requireNonNull(target, "target is null");
        this.thread = Thread.ofPlatform().daemon().name("attack-read-loop").unstarted(this::run);
    }

    public static ReadLoop start(Target target)
    {
        ReadLoop loop = new ReadLoop(target);
        loop.thread.start();
        return loop;
    }

    private void run()
    {
        try {
            do {
                try {
                    target.checkCached(target.sample());
                }
                catch (IOException e) {
                    failures.incrementAndGet();
                    firstFailure.compareAndSet(null, e.getMessage());
                }
                reads.incrementAndGet();
                Thread.sleep(PAUSE_MILLIS);
            }
            while (!stopped);
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Ends the reads and waits for the last one.
     *
     * @return one sentence if a read failed
     */
    public Optional<String> stop()
            throws InterruptedException
    {
        stopped = true;
        thread.join();
        return failures.get() == 0 ?
                Optional.empty() :
                Optional.of("%s of %s reads beside the attack failed: %s".formatted(failures.get(), reads.get(), firstFailure.get()));
    }
}
