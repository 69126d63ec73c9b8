package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.store.StoreClock;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * What is wrong with the disk of a directory, if anything: after a failure no blocks are written for a while, then one is tried. Guarded by the
 * store's lock.
 */
final class DirectoryHealth
{
    private static final Logger log = Logger.get(DirectoryHealth.class);

    static final long SUSPENSION_NANOS = Duration.ofSeconds(10).toNanos();

    private final Path directory;
    private final StoreClock clock;
    private Optional<String> problem = Optional.empty();
    private long suspendedUntilNanos;
    private long errors;

    DirectoryHealth(Path directory, StoreClock clock)
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.clock = requireNonNull(clock, "clock is null");
    }

    /**
     * No blocks are written for a while.
     */
    void suspend(IOException failure)
    {
        errors++;
        suspendedUntilNanos = clock.nanoTime() + SUSPENSION_NANOS;
        if (problem.isEmpty()) {
            log.warn("SSD directory %s takes no blocks for now: %s", directory, failure.getMessage());
        }
        problem = Optional.of("SSD directory %s takes no blocks since a failure (%s); it is tried again every %s s: mend the disk".formatted(
                directory,
                failure.getMessage(),
                Duration.ofNanos(SUSPENSION_NANOS).toSeconds()));
    }

    /**
     * A write succeeded.
     */
    void resume()
    {
        if (problem.isPresent()) {
            log.info("SSD directory %s takes blocks again", directory);
            problem = Optional.empty();
        }
    }

    /**
     * A failure that says nothing of writes.
     */
    void countError()
    {
        errors++;
    }

    /**
     * Whether blocks are written here at present.
     */
    boolean isInService()
    {
        return clock.nanoTime() - suspendedUntilNanos >= 0 || problem.isEmpty();
    }

    Optional<String> problem()
    {
        return problem;
    }

    long errors()
    {
        return errors;
    }
}
