package io.cachedhive.plugin.preload;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * The preloads of a catalog that have not ended, and the last of those that have.
 */
public final class PreloadJobs
{
    public static final int MAX_ENDED_JOBS = 100;

    /**
     * That run or wait.
     */
    static final int MAX_UNFINISHED_JOBS = 100;

    /**
     * Of all jobs together that run or wait: each is remembered, which takes about half a kilobyte.
     */
    public static final int MAX_UNFINISHED_FILES = 1_000_000;

    // guarded by this; the newest first
    private final Deque<PreloadJob> jobs = new ArrayDeque<>();

    /**
     * @return why the job may not be begun, in one sentence; empty if it was taken
     */
    public synchronized Optional<String> add(PreloadJob job)
    {
        List<PreloadJob> unfinished = jobs.stream().filter(known -> !known.state().isEnd()).toList();
        if (unfinished.stream().anyMatch(known -> known.id().equals(job.id()))) {
            return Optional.of("preload %s has not ended yet: wait for it, cancel it, or give this one another name with job => '...'".formatted(job.id()));
        }
        if (unfinished.size() >= MAX_UNFINISHED_JOBS) {
            return Optional.of("%s preloads run or wait already, and no more may: wait until some have ended, or cancel some; the table cache.preloads lists them"
                    .formatted(unfinished.size()));
        }
        long files = unfinished.stream().mapToLong(PreloadJob::files).sum();
        if (files + job.files() > MAX_UNFINISHED_FILES) {
            return Optional.of(("%s has %s files to preload, and the preloads that run or wait have %s, of at most %s together: " +
                    "wait until some have ended, or preload fewer partitions at once")
                    .formatted(job.table(), job.files(), files, MAX_UNFINISHED_FILES));
        }
        jobs.addFirst(job);
        long ended = jobs.stream().filter(known -> known.state().isEnd()).count();
        for (Iterator<PreloadJob> oldest = jobs.descendingIterator(); ended > MAX_ENDED_JOBS && oldest.hasNext(); ) {
            if (oldest.next().state().isEnd()) {
                oldest.remove();
                ended--;
            }
        }
        return Optional.empty();
    }

    /**
     * The newest of that id.
     */
    public synchronized Optional<PreloadJob> find(String id)
    {
        return jobs.stream().filter(job -> job.id().equals(id)).findFirst();
    }

    /**
     * The newest first.
     */
    public synchronized List<PreloadJob> list()
    {
        return List.copyOf(jobs);
    }
}
