package io.cachedhive.plugin.preload;

import io.trino.spi.connector.SchemaTableName;
import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestPreloadJobs
{
    private static final Instant NOW = Instant.EPOCH;

    private final PreloadJobs jobs = new PreloadJobs();

    private static PreloadJob job(String id)
    {
        return new PreloadJob(id, new SchemaTableName("s", "t"), Optional.empty(), Optional.empty(), 100, NOW);
    }

    @Test
    void testOneAtATimeOfEachName()
    {
        PreloadJob first = job("a");
        assertThat(jobs.add(first)).isTrue();
        assertThat(jobs.add(job("a"))).isFalse();
        assertThat(jobs.add(job("b"))).isTrue();
        first.begin();
        assertThat(jobs.add(job("a"))).isFalse();
        first.end(NOW);
        PreloadJob second = job("a");
        assertThat(jobs.add(second)).isTrue();
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
    void testEnds()
    {
        PreloadJob finished = job("a");
        assertThat(finished.begin()).isTrue();
        finished.removeLeft(40);
        finished.addDone(60);
        finished.end(NOW);
        assertThat(finished.status()).satisfies(status -> {
            assertThat(status.state()).isEqualTo(PreloadState.FINISHED);
            assertThat(status.leftBytes()).isZero();
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
        assertThat(failed.status().leftBytes()).isEqualTo(80);
    }

    @Test
    void testCancelled()
    {
        PreloadJob queued = job("a");
        assertThat(queued.cancel("why", NOW)).isTrue();
        assertThat(queued.state()).isEqualTo(PreloadState.CANCELED);
        assertThat(queued.begin()).isFalse();

        PreloadJob running = job("b");
        running.begin();
        assertThat(running.cancel("why", NOW)).isTrue();
        assertThat(running.state()).isEqualTo(PreloadState.RUNNING);
        assertThat(running.cancellation()).isCompleted();
        assertThat(running.end()).isNotDone();
        running.end(NOW);
        assertThat(running.state()).isEqualTo(PreloadState.CANCELED);
        assertThat(running.status().problem()).hasValue("why");
    }
}
