package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.StoreClock;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Decides from the results of disk operations whether a directory may be read and written.
 *
 * <p>A disk whose reads fail, are slow or hang is offline: its blocks are neither read nor written, and stay in the
 * index until it recovers. A disk that only rejects writes keeps serving reads. Retries follow after
 * {@link #SUSPENSION_NANOS}: for reads with a {@linkplain #needsReadProbe probe}, so that no reader waits for a hung
 * disk, and for writes with the next block or checkpoint.
 *
 * <p>A single failed read indicates a bad sector and costs one block. Several in a row indicate a bad disk.
 *
 * <p>Guarded by the store's lock.
 */
final class DirectoryHealth
{
    private static final Logger log = Logger.get(DirectoryHealth.class);

    static final long SUSPENSION_NANOS = Duration.ofSeconds(10).toNanos();
    /**
     * Readers fall back to the origin after this time.
     */
    static final long SLOW_NANOS = Duration.ofSeconds(1).toNanos();
    static final long HUNG_NANOS = Duration.ofSeconds(5).toNanos();
    static final int TOLERATED_IN_A_ROW = 2;

    /**
     * The parts of a directory that fail independently.
     */
    enum Part
    {
        SLAB_READS("is not used", TOLERATED_IN_A_ROW),
        SLAB_WRITES("takes no blocks", 0),
        /**
         * Journal, checkpoints and superblock.
         */
        INDEX("takes no blocks", 0);

        private final String consequence;
        private final int toleratedFailures;

        Part(String consequence, int toleratedFailures)
        {
            this.consequence = consequence;
            this.toleratedFailures = toleratedFailures;
        }
    }

    /**
     * A disk operation in progress.
     */
    static final class Operation
    {
        private final Part part;
        private final long startNanos;
        private boolean hung;

        private Operation(Part part, long startNanos)
        {
            this.part = part;
            this.startNanos = startNanos;
        }
    }

    private static final class State
    {
        final LinkedHashSet<Operation> running = new LinkedHashSet<>();
        int failuresInARow;
        int slowInARow;
        long lastSlowEndNanos;
        long suspendedUntilNanos;
        Optional<String> problem = Optional.empty();
    }

    private final Path path;
    private final StoreClock clock;
    private final State[] states = new State[Part.values().length];
    private final long[] errors = new long[SsdErrorCause.values().length];

    DirectoryHealth(Path path, StoreClock clock)
    {
        this.path = requireNonNull(path, "path is null");
        this.clock = requireNonNull(clock, "clock is null");
        Arrays.setAll(states, _ -> new State());
    }

    Operation begin(Part part)
    {
        Operation operation = new Operation(part, clock.stopwatchNanos());
        states[part.ordinal()].running.add(operation);
        return operation;
    }

    /**
     * Records that the operation succeeded, and how long it took.
     */
    void succeeded(Operation operation)
    {
        State state = states[operation.part.ordinal()];
        state.running.remove(operation);
        state.failuresInARow = 0;
        long nanos = clock.stopwatchNanos() - operation.startNanos;
        if (operation.hung) {
            // counted when it hung; the next attempt shows the current state
            return;
        }
        if (nanos < SLOW_NANOS) {
            state.slowInARow = 0;
            resume(operation.part);
            return;
        }
        errors[SsdErrorCause.SLOW.ordinal()]++;
        // one stall of the disk delays all operations in progress, so those that began before its end do not count again
        if (state.slowInARow == 0 || operation.startNanos - state.lastSlowEndNanos >= 0) {
            state.slowInARow++;
            state.lastSlowEndNanos = clock.stopwatchNanos();
        }
        if (state.slowInARow > TOLERATED_IN_A_ROW || state.problem.isPresent()) {
            suspend(operation.part, "%s took %s ms".formatted(nameOf(operation.part), Duration.ofNanos(nanos).toMillis()));
        }
    }

    void failed(Part part, IOException failure)
    {
        errors[SsdErrorCause.of(failure).ordinal()]++;
        State state = states[part.ordinal()];
        state.failuresInARow++;
        if (state.failuresInARow > part.toleratedFailures || state.problem.isPresent()) {
            suspend(part, failure.getMessage());
        }
    }

    /**
     * Ends an operation without a conclusion about the disk.
     */
    void ended(Operation operation)
    {
        states[operation.part.ordinal()].running.remove(operation);
    }

    /**
     * Counts an error that does not affect availability.
     */
    void countError(Throwable failure)
    {
        SsdErrorCause cause = failure instanceof IOException disk ? SsdErrorCause.of(disk) : SsdErrorCause.OTHER;
        errors[cause.ordinal()]++;
    }

    private void suspend(Part part, String reason)
    {
        State state = states[part.ordinal()];
        state.suspendedUntilNanos = clock.nanoTime() + SUSPENSION_NANOS;
        if (state.problem.isEmpty()) {
            log.warn("SSD directory %s %s for now: %s", path, part.consequence, reason);
        }
        state.problem = Optional.of("SSD directory %s %s since a failure (%s); retrying every %s s: repair the disk".formatted(
                path,
                part.consequence,
                reason,
                Duration.ofNanos(SUSPENSION_NANOS).toSeconds()));
    }

    /**
     * Ends a suspension because the part works again.
     */
    void resume(Part part)
    {
        State state = states[part.ordinal()];
        state.failuresInARow = 0;
        if (state.problem.isPresent()) {
            state.problem = Optional.empty();
            state.slowInARow = 0;
            log.info("SSD directory %s: %s work again", path, nameOf(part));
        }
    }

    private static String nameOf(Part part)
    {
        return switch (part) {
            case SLAB_READS -> "reads";
            case SLAB_WRITES -> "writes";
            case INDEX -> "journal and checkpoints";
        };
    }

    /**
     * Returns whether blocks may be read; after a failure, only once a probe succeeded.
     */
    boolean isReadable()
    {
        return !hasProblem(Part.SLAB_READS);
    }

    boolean isWritable()
    {
        return isReadable() && mayBeTried(Part.SLAB_WRITES) && mayBeTried(Part.INDEX);
    }

    /**
     * Returns whether a probe read is due.
     */
    boolean needsReadProbe()
    {
        return !isReadable() && mayBeTried(Part.SLAB_READS);
    }

    private boolean mayBeTried(Part part)
    {
        if (!hasProblem(part)) {
            return true;
        }
        State state = states[part.ordinal()];
        // a second operation would hang too
        return clock.nanoTime() - state.suspendedUntilNanos >= 0 && state.running.stream().noneMatch(operation -> operation.hung);
    }

    private void findHung(Part part)
    {
        State state = states[part.ordinal()];
        if (state.running.isEmpty()) {
            return;
        }
        long now = clock.stopwatchNanos();
        // ordered by start time
        for (Operation operation : state.running) {
            if (now - operation.startNanos < HUNG_NANOS) {
                return;
            }
            if (!operation.hung) {
                operation.hung = true;
                errors[SsdErrorCause.SLOW.ordinal()]++;
                suspend(part, "%s hang for more than %s s".formatted(nameOf(part), Duration.ofNanos(HUNG_NANOS).toSeconds()));
            }
        }
    }

    boolean hasProblem(Part part)
    {
        findHung(part);
        return states[part.ordinal()].problem.isPresent();
    }

    /**
     * Returns one sentence about the problem and its fix; empty when healthy.
     */
    Optional<String> problem()
    {
        for (Part part : Part.values()) {
            if (hasProblem(part)) {
                return states[part.ordinal()].problem;
            }
        }
        return Optional.empty();
    }

    long errors(SsdErrorCause cause)
    {
        return errors[cause.ordinal()];
    }
}
