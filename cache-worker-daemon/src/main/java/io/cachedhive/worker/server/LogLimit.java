package io.cachedhive.worker.server;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * Counts events of one kind and permits one log line per minute for them, so that a peer cannot flood the log.
 */
public final class LogLimit
{
    private static final int MAX_LINE_LENGTH = 500;
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier nanoTime;
    @GuardedBy("this")
    private long count;
    @GuardedBy("this")
    private long countAtLastLog;
    @GuardedBy("this")
    private long lastLog;

    public LogLimit()
    {
        this(System::nanoTime);
    }

    LogLimit(LongSupplier nanoTime)
    {
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
    }

    /**
     * Counts an event.
     *
     * @return the number of events since the last line, including this one, if a line may be logged; otherwise empty
     */
    public synchronized OptionalLong add()
    {
        count++;
        long now = nanoTime.getAsLong();
        if (countAtLastLog > 0 && now - lastLog < QUIET_NANOS) {
            return OptionalLong.empty();
        }
        long sinceLastLog = count - countAtLastLog;
        countAtLastLog = count;
        lastLog = now;
        return OptionalLong.of(sinceLastLog);
    }

    synchronized long count()
    {
        return count;
    }

    /**
     * Returns a text that a peer may have sent as one line of bounded length, without control characters.
     */
    public static String line(String text)
    {
        String start = text.length() > MAX_LINE_LENGTH ? text.substring(0, MAX_LINE_LENGTH) + "..." : text;
        return start.codePoints()
                .map(point -> Character.isISOControl(point) ? '?' : point)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
