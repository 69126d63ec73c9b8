package io.cachedhive.worker.testing;

import io.cachedhive.worker.time.WorkerTimer;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Time that moves when a test says so; what is due runs in the test's thread.
 */
public final class ManualTimer
        implements WorkerTimer
{
    private final List<Task> tasks = new ArrayList<>();
    private Instant now;

    public ManualTimer(Instant now)
    {
        this.now = now;
    }

    private record Task(Instant due, Runnable run) {}

    @Override
    public synchronized Instant now()
    {
        return now;
    }

    @Override
    public synchronized long nanoTime()
    {
        return now.getEpochSecond() * 1_000_000_000 + now.getNano();
    }

    @Override
    public synchronized Scheduled schedule(Duration delay, Runnable task)
    {
        Task scheduled = new Task(now.plus(delay), task);
        tasks.add(scheduled);
        return () -> {
            synchronized (this) {
                tasks.remove(scheduled);
            }
        };
    }

    public void advance(Duration duration)
    {
        Instant end = now().plus(duration);
        while (true) {
            Optional<Task> next;
            synchronized (this) {
                next = tasks.stream().filter(task -> !task.due().isAfter(end)).min(Comparator.comparing(Task::due));
                next.ifPresent(task -> {
                    tasks.remove(task);
                    now = task.due().isAfter(now) ? task.due() : now;
                });
                if (next.isEmpty()) {
                    now = end;
                    return;
                }
            }
            next.get().run().run();
        }
    }

    public synchronized int scheduledCount()
    {
        return tasks.size();
    }
}
