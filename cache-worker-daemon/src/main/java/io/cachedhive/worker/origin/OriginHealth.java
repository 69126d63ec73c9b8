package io.cachedhive.worker.origin;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.worker.origin.ObjectSourceException.Reason;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * Tracks the failures of an origin. It limits the requests to a failing origin, limits the log messages, and provides
 * the problem that the worker reports.
 *
 * <ul>
 * <li>Access to a bucket denied: the worker does not read the bucket for one minute; clients read it with their own
 * permissions.
 * <li>Origin unreachable: reads fail immediately for 1 second, and for up to 10 seconds after repeated failures. Then
 * one request probes the origin.
 * <li>Bucket throttled without a success for 5 seconds: the same for the bucket.
 * <li>Other failures affect only their request.
 * <li>Location not allowed: reported for five minutes after the last request for such a location.
 * </ul>
 */
public final class OriginHealth
{
    private static final Logger log = Logger.get(OriginHealth.class);

    private static final long DENIED_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long FIRST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);
    // while other requests of the bucket succeed, a throttled one does not mean that the bucket is overloaded
    private static final long OVERLOADED_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(5);

    private final String name;
    private final Path file;
    private final LongSupplier nanoTime;

    @GuardedBy("this")
    private final Map<String, Long> deniedUntil = new HashMap<>();
    @GuardedBy("this")
    private final Map<String, Long> succeededAt = new HashMap<>();
    @GuardedBy("this")
    private final Pause pause = new Pause();
    @GuardedBy("this")
    private final Map<String, Pause> bucketPauses = new HashMap<>();
    @GuardedBy("this")
    private boolean failing;
    @GuardedBy("this")
    private boolean failureLogged;
    @GuardedBy("this")
    private long quietUntil;
    @GuardedBy("this")
    private Optional<String> problem = Optional.empty();
    @GuardedBy("this")
    private Optional<String> refusal = Optional.empty();
    @GuardedBy("this")
    private long refusalUntil;
    @GuardedBy("this")
    private long refusalsQuietUntil;

    public OriginHealth(String name, Path file)
    {
        this(name, file, System::nanoTime);
    }

    public OriginHealth(String name, Path file, LongSupplier nanoTime)
    {
        this.name = requireNonNull(name, "name is null");
        this.file = requireNonNull(file, "file is null");
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
        this.quietUntil = nanoTime.getAsLong();
        this.refusalsQuietUntil = quietUntil;
    }

    /**
     * Returns whether the worker currently leaves the bucket to the clients.
     */
    public synchronized boolean isDenied(String bucket)
    {
        Long until = deniedUntil.get(bucket);
        if (until == null) {
            return false;
        }
        if (nanoTime.getAsLong() - until < 0) {
            return true;
        }
        deniedUntil.remove(bucket);
        return false;
    }

    /**
     * Returns whether to fail reads of the bucket immediately. After a pause this returns false to one caller, whose
     * request probes the origin. Other callers wait for its result, or for another pause.
     */
    public synchronized boolean isPaused(String bucket)
    {
        long now = nanoTime.getAsLong();
        Pause bucketPause = bucketPauses.get(bucket);
        if (pause.isOn(now) || (bucketPause != null && bucketPause.isOn(now))) {
            return true;
        }
        // only now: a probe that the other pause prevents would prolong this one without a request
        pause.beginProbe(now);
        if (bucketPause != null) {
            bucketPause.beginProbe(now);
        }
        return false;
    }

    private static final class Pause
    {
        private long nanos;
        private long until;

        boolean isOn(long now)
        {
            return nanos != 0 && now - until < 0;
        }

        /**
         * Prolongs the pause for all but the caller.
         */
        void beginProbe(long now)
        {
            until = now + nanos;
        }

        void lengthen(long now)
        {
            nanos = nanos == 0 ? FIRST_PAUSE_NANOS : Math.min(nanos * 2, LONGEST_PAUSE_NANOS);
            until = now + nanos;
        }

        void end()
        {
            nanos = 0;
        }
    }

    public synchronized void succeeded(String bucket)
    {
        pause.end();
        bucketPauses.remove(bucket);
        succeededAt.put(bucket, nanoTime.getAsLong());
        deniedUntil.remove(bucket);
        problem = Optional.empty();
        if (failing) {
            failing = false;
            if (failureLogged) {
                failureLogged = false;
                log.info("Origin %s answers again", name);
            }
        }
    }

    /**
     * Records a failed request.
     *
     * @param request a description of the request for the log message
     */
    public synchronized void failed(String bucket, String request, ObjectSourceException failure)
    {
        long now = nanoTime.getAsLong();
        if (failure.reason() == Reason.DENIED) {
            deniedUntil.put(bucket, now + DENIED_NANOS);
        }
        if (failure.reason() == Reason.UNREACHABLE) {
            pause.lengthen(now);
        }
        if (failure.reason() == Reason.THROTTLED) {
            Long succeeded = succeededAt.get(bucket);
            if (succeeded == null || now - succeeded >= OVERLOADED_NANOS) {
                bucketPauses.computeIfAbsent(bucket, _ -> new Pause()).lengthen(now);
            }
        }
        String sentence = switch (failure.reason()) {
            case DENIED -> "origin %s answers %s to %s: check the credentials in %s and the rights that they have".formatted(name, failure.getMessage(), request, file);
            case UNREACHABLE -> "origin %s cannot be reached (%s): check s3.endpoint in %s and the network".formatted(name, failure.getMessage(), file);
            case THROTTLED -> "origin %s answers %s to more requests than the retries of %s allow for: it is overloaded".formatted(name, failure.getMessage(), file);
            case FAILED, GONE, CHANGED, ENCRYPTED -> "origin %s fails (%s) at %s: check the object store".formatted(name, failure.getMessage(), request);
        };
        problem = Optional.of(sentence);
        failing = true;
        if (now - quietUntil >= 0) {
            quietUntil = now + QUIET_NANOS;
            failureLogged = true;
            log.warn("%s", sentence);
        }
    }

    /**
     * Records a request for a file that the origin does not allow.
     */
    public synchronized void refused(String location)
    {
        long now = nanoTime.getAsLong();
        String sentence = "origin %s does not allow %s, so that Trino reads it: add its bucket or prefix to allowed-locations in %s, or use another origin in the catalog"
                .formatted(name, location, file);
        refusal = Optional.of(sentence);
        refusalUntil = now + QUIET_NANOS;
        if (now - refusalsQuietUntil >= 0) {
            refusalsQuietUntil = now + QUIET_NANOS;
            log.warn("%s", sentence);
        }
    }

    /**
     * Returns the problem and its fix, or empty if the last request succeeded and no location was refused lately.
     */
    public synchronized Optional<String> problem()
    {
        return problem.or(() -> refusal.filter(_ -> nanoTime.getAsLong() - refusalUntil < 0));
    }
}
