package io.cachedhive.plugin.preload;

import io.cachedhive.plugin.table.TableName;
import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

import static org.assertj.core.api.Assertions.assertThat;

class TestPreloadJobs
{
    private static final Instant NOW = Instant.EPOCH;

    private final PreloadJobs jobs = new PreloadJobs();

    private static PreloadJob job(String id)
    {
        return job(id, 1);
    }

    private static PreloadJob job(String id, int files)
    {
        return new PreloadJob(id, Optional.empty(), new TableName("s", "t"), Optional.empty(), Optional.empty(), files, 100, NOW);
    }

    @Test
    void testOneAtATimeOfEachName()
    {
        PreloadJob first = job("a");
        assertThat(jobs.add(first)).isEmpty();
        assertThat(jobs.add(job("a"))).hasValueSatisfying(problem -> assertThat(problem).contains("preload a has not ended yet"));
        assertThat(jobs.add(job("b"))).isEmpty();
        first.begin();
        assertThat(jobs.add(job("a"))).hasValueSatisfying(problem -> assertThat(problem).contains("preload a has not ended yet"));
        first.end(NOW);
        PreloadJob second = job("a");
        assertThat(jobs.add(second)).isEmpty();
        assertThat(jobs.find("a")).containsSame(second);
        assertThat(jobs.list()).extracting(PreloadJob::id).containsExactly("a", "b", "a");
    }

    @Test
    void testForgetsTheOldestThatHaveEnded()
    {
        PreloadJob running = job("running");
        jobs.add(running);
        running.begin();
        for (int i = 0; i < PreloadJobs.MAX_ENDED_JOBS + 5; i++) {
            PreloadJob job = job("job" + i);
            jobs.add(job);
            job.begin();
            job.end(NOW);
        }
        jobs.add(job("last"));
        assertThat(jobs.list()).hasSize(PreloadJobs.MAX_ENDED_JOBS + 2);
        assertThat(jobs.find("running")).isPresent();
        assertThat(jobs.find("job4")).isEmpty();
        assertThat(jobs.find("job5")).isPresent();
    }

    @Test
    void testRefusesMoreThanMayWait()
    {
        for (int i = 0; i < PreloadJobs.MAX_UNFINISHED_JOBS; i++) {
            assertThat(jobs.add(job("job" + i))).isEmpty();
        }
        assertThat(jobs.add(job("more"))).hasValueSatisfying(problem -> assertThat(problem).startsWith("100 preloads run or wait already"));
        assertThat(jobs.find("more")).isEmpty();
        jobs.find("job7").orElseThrow().cancel("why", NOW);
        assertThat(jobs.add(job("more"))).isEmpty();
    }

    @Test
    void testRefusesMoreFilesThanMayWait()
    {
        PreloadJob first = job("first", PreloadJobs.MAX_UNFINISHED_FILES - 10);
        assertThat(jobs.add(first)).isEmpty();
        assertThat(jobs.add(job("second", 11))).hasValueSatisfying(problem -> assertThat(problem)
                .startsWith("s.t has 11 files to preload, and the preloads that run or wait have 999990, of at most 1000000 together"));
        assertThat(jobs.add(job("third", 10))).isEmpty();
        first.cancel("why", NOW);
        assertThat(jobs.add(job("second", 11))).isEmpty();
    }

    @Test
    void testEnds()
    {
        PreloadJob finished = job("a");
        assertThat(finished.begin()).isTrue();
        finished.removeLeft(40);
        finished.addDone(60);
        finished.end(NOW);
        assertThat(finished.status()).satisfies(status -> {
            assertThat(status.state()).isEqualTo(PreloadState.FINISHED);
            assertThat(status.remainingBytes()).isZero();
            assertThat(status.problem()).isEmpty();
        });
        assertThat(finished.cancel("too late", NOW)).isFalse();
        assertThat(finished.end()).isCompleted();

        PreloadJob failed = job("b");
        failed.begin();
        failed.addFailed(10, "first");
        failed.addFailed(10, "second");
        failed.end(NOW);
        assertThat(failed.status().state()).isEqualTo(PreloadState.FAILED);
        assertThat(failed.status().problem()).hasValue("first");
        assertThat(failed.status().remainingBytes()).isEqualTo(80);
    }

    @Test
    void testCancelled()
    {
        PreloadJob queued = job("a");
        assertThat(queued.cancel("why", NOW)).isTrue();
        assertThat(queued.state()).isEqualTo(PreloadState.CANCELED);
        assertThat(queued.end()).isCompleted();
        assertThat(queued.begin()).isFalse();

        PreloadJob running = job("b");
        running.begin();
        assertThat(running.cancel("why", NOW)).isTrue();
        assertThat(running.state()).isEqualTo(PreloadState.RUNNING);
        assertThat(running.cancellation()).isCompleted();
        assertThat(running.end()).isNotDone();
        // whatever its end finds out: it is not said to be finished to whom it was said to be cancelled
        running.end(NOW);
        assertThat(running.end()).isCompleted();
        assertThat(running.state()).isEqualTo(PreloadState.CANCELED);
        assertThat(running.status().problem()).hasValue("why");
    }

    /**
     * Cancelled just when it begins or ends: it ends always, and as cancelled if whoever cancelled was told so.
     */
    @Test
    void testCancelledMeanwhile()
            throws Exception
    {
        for (int i = 0; i < 2_000; i++) {
            PreloadJob job = job("a");
            CyclicBarrier barrier = new CyclicBarrier(2);
            Thread runner = Thread.ofPlatform().start(() -> {
                await(barrier);
                if (job.begin()) {
                    job.end(NOW);
                }
            });
            await(barrier);
            boolean cancelled = job.cancel("why", NOW);
            runner.join();
            assertThat(job.end()).isCompleted();
            assertThat(job.state()).isEqualTo(cancelled ? PreloadState.CANCELED : PreloadState.FINISHED);
            assertThat(job.status().problem()).isEqualTo(cancelled ? Optional.of("why") : Optional.empty());
        }
    }

    private static void await(CyclicBarrier barrier)
    {
        try {
            barrier.await();
        }
        catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }
}
