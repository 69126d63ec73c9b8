package io.cachedhive.plugin.release;

import jakarta.annotation.PreDestroy;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The thread that notifies cache workers of removed files. There is none while no file is removed.
 */
public final class ReleaseTimer
        implements FileReleases.Delay
{
    private final ScheduledThreadPoolExecutor executor;

    public ReleaseTimer(String catalog)
    {
        this.executor = new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().name("cachedhive-%s-releases".formatted(catalog)).factory());
        executor.setKeepAliveTime(10, TimeUnit.SECONDS);
        executor.allowCoreThreadTimeOut(true);
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    @Override
    public void after(long millis, Runnable task)
    {
        executor.schedule(task, millis, TimeUnit.MILLISECONDS);
    }

    @PreDestroy
    public void close()
    {
        executor.shutdownNow();
    }
}
