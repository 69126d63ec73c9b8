package io.cachedhive.transport;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Logs how workers are when that changes, and not more often than somebody can read: {@value BURST} lines at once and one a minute after that.
 * What changes back meanwhile is never logged, what stays is logged as soon as there is room.
 */
public final class StateLog
{
    static final int BURST = 6;
    private static final long REFILL_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Logger log;
    private final LongSupplier nanoTime;

    @GuardedBy("this")
    private final Map<String, Topic> topics = new HashMap<>();
    @GuardedBy("this")
    private int room = BURST;
    @GuardedBy("this")
    private long refilledNanos;

    public StateLog(Logger log, LongSupplier nanoTime)
    {
        this.log = log;
        this.nanoTime = nanoTime;
        this.refilledNanos = nanoTime.getAsLong();
    }

    private static final class Topic
    {
        Optional<String> problem = Optional.empty();
        Optional<String> logged = Optional.empty();
    }

    /**
     * @param topic what is spoken of, to begin a sentence with
     * @param problem one sentence; empty when all is well
     */
    public synchronized void update(String topic, Optional<String> problem)
    {
        topics.computeIfAbsent(topic, _ -> new Topic()).problem = problem;
        logChanges();
    }

    /**
     * All other topics are of no interest any more.
     */
    public synchronized void retain(Set<String> topics)
    {
        this.topics.keySet().retainAll(topics);
    }

    /**
     * Says what there was no room for.
     */
    public synchronized void logChanges()
    {
        long now = nanoTime.getAsLong();
        while (room < BURST && now - refilledNanos >= REFILL_NANOS) {
            room++;
            refilledNanos += REFILL_NANOS;
        }
        if (room == BURST) {
            refilledNanos = now;
        }
        topics.forEach((name, topic) -> {
            if (room > 0 && !topic.problem.equals(topic.logged)) {
                room--;
                if (topic.problem.isPresent()) {
                    log.warn("%s: %s", name, topic.problem.get());
                }
                else {
                    log.info("%s is used again", name);
                }
                topic.logged = topic.problem;
            }
        });
        topics.values().removeIf(topic -> topic.problem.isEmpty() && topic.logged.isEmpty());
    }
}
