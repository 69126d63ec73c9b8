package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.block.StoreException;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * The SSD directories that have been offline since the store was opened. Retries each of them periodically.
 *
 * <p>Callers hold the store's lock unless a method specifies otherwise.
 */
final class AbsentDirectories
{
    private static final Logger log = Logger.get(AbsentDirectories.class);

    /**
     * Opens a probed directory for the store.
     */
    interface Opener
    {
        /**
         * @param lastRun the run before the directory's new run
         */
        SsdDirectory open(DirectoryCandidate candidate, long lastRun)
                throws StoreException, DirectoryOutException;
    }

    private static final class State
    {
        final AbsentDirectory directory;
        String problem;
        long triedNanos;
        boolean trying;

        State(AbsentDirectory directory, long triedNanos)
        {
            this.directory = directory;
            this.problem = directory.reason().getMessage();
            this.triedNanos = triedNanos;
        }
    }

    private final DirectoryProbe probe;
    private final Opener opener;
    private final ReentrantLock lock;
    private final StoreClock clock;
    // by number
    private final Map<Integer, State> states = new TreeMap<>();
    private final long[] errors = new long[SsdErrorCause.values().length];

    AbsentDirectories(List<AbsentDirectory> directories, DirectoryProbe probe, Opener opener, ReentrantLock lock, StoreClock clock)
    {
        this.probe = requireNonNull(probe, "probe is null");
        this.opener = requireNonNull(opener, "opener is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.clock = requireNonNull(clock, "clock is null");
        for (AbsentDirectory directory : directories) {
            log.warn("Starting without a directory: %s", directory.reason().getMessage());
            states.put(directory.number(), new State(directory, clock.nanoTime()));
            errors[directory.reason().reason().ordinal()]++;
        }
    }

    List<Integer> numbers()
    {
        return List.copyOf(states.keySet());
    }

    /**
     * Retries a directory if its pause has passed. Callers must not hold the lock.
     *
     * @param lastRun the run before the current one
     * @return the emptied directory if it is usable now; the caller then calls {@link #remove}
     */
    Optional<SsdDirectory> retry(int number, long lastRun)
    {
        State state;
        lock.lock();
        try {
            state = states.get(number);
            if (state == null || state.trying || clock.nanoTime() - state.triedNanos < DirectoryHealth.SUSPENSION_NANOS) {
                return Optional.empty();
            }
            state.trying = true;
        }
        finally {
            lock.unlock();
        }
        String problem = state.problem;
        Optional<SsdErrorCause> cause = Optional.empty();
        try {
            DirectoryCandidate candidate = probe.probe(number, state.directory.config(), true);
            boolean success = false;
            try {
                SsdDirectory directory = opener.open(candidate, lastRun);
                success = true;
                return Optional.of(directory);
            }
            finally {
                if (!success) {
                    closeQuietly(candidate);
                }
            }
        }
        catch (DirectoryOutException e) {
            problem = e.getMessage();
            cause = Optional.of(e.reason());
        }
        catch (StoreException e) {
            problem = e.getMessage();
            cause = Optional.of(SsdErrorCause.OTHER);
        }
        finally {
            lock.lock();
            try {
                state.trying = false;
                state.triedNanos = clock.nanoTime();
                state.problem = problem;
                cause.ifPresent(found -> errors[found.ordinal()]++);
            }
            finally {
                lock.unlock();
            }
        }
        return Optional.empty();
    }

    private static void closeQuietly(DirectoryCandidate candidate)
    {
        try {
            candidate.close();
        }
        catch (IOException e) {
            log.warn("Cannot close %s: %s", candidate.path(), e.getMessage());
        }
    }

    void remove(int number)
    {
        State state = states.remove(number);
        log.info("SSD directory %s is now in use", state.directory.path());
    }

    List<Path> paths()
    {
        return states.values().stream().map(state -> state.directory.path()).toList();
    }

    Optional<String> problem()
    {
        return states.values().stream().findFirst().map(state -> state.problem);
    }

    int count()
    {
        return states.size();
    }

    /**
     * Returns the number of errors, including those of directories that are online by now.
     */
    long errors(SsdErrorCause cause)
    {
        return errors[cause.ordinal()];
    }
}
