package io.cachedhive.plugin.preload;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * The preloads of a catalog that have not ended, and the last of those that have.
 */
final class PreloadJobs
{
    static final int MAX_ENDED_JOBS = 100;

    // guarded by this; the newest first
    private final Deque<PreloadJob> jobs = new ArrayDeque<>();

    /**
     * @return false if a job of that id has not ended yet
     */
    synchronized boolean add(PreloadJob job)
    {
        if (find(job.id()).filter(known -> !known.state().isEnd()).isPresent()) {
            return false;
        }
        jobs.addFirst(job);
        long ended = jobs.stream().filter(known -> known.state().isEnd()).count();
        for (Iterator<PreloadJob> oldest = jobs.descendingIterator(); ended > MAX_ENDED_JOBS && oldest.hasNext(); ) {
            if (oldest.next().state().isEnd()) {
                oldest.remove();
                ended--;
            }
        }
        return true;
    }

    /**
     * The newest of that id.
     */
    synchronized Optional<PreloadJob> find(String id)
    {
        return jobs.stream().filter(job -> job.id().equals(id)).findFirst();
    }

    /**
     * The newest first.
     */
    synchronized List<PreloadJob> list()
    {
        return List.copyOf(jobs);
    }
}
