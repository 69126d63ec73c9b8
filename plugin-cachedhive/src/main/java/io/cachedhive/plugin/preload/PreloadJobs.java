package io.cachedhive.plugin.preload;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * The last preloads of a catalog.
 */
final class PreloadJobs
{
    private static final int MAX_JOBS = 100;

    // guarded by this; the newest first
    private final Deque<PreloadJob> jobs = new ArrayDeque<>();

    synchronized void add(PreloadJob job)
    {
        jobs.addFirst(job);
        if (jobs.size() > MAX_JOBS) {
            jobs.removeLast();
        }
    }

    /**
     * The newest first.
     */
    synchronized List<PreloadJob.Status> list()
    {
        return jobs.stream().map(PreloadJob::status).toList();
    }
}
