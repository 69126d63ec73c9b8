package io.cachedhive.store.ssd;

import io.cachedhive.store.ssd.DirectoryRuns.CheckpointRun;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TestDirectoryRuns
{
    private final DirectoryRuns runs = new DirectoryRuns(7);

    @Test
    void aDirectoryWithAllDropsGetsTheNextRun()
    {
        assertThat(runs.isOutdated()).isFalse();
        assertThat(runs.lackIfOutdated()).isFalse();
        assertThat(runs.attempt(8)).isTrue();
        runs.setLast(8);
        assertThat(runs.isOutdated()).isFalse();
        assertThat(runs.beginCheckpoint().run()).isEqualTo(8);
    }

    @Test
    void aDirectoryThatLacksADropStaysOutdated()
    {
        assertThat(runs.lack()).as("is not outdated yet").isFalse();
        assertThat(runs.isLacking()).isTrue();
        assertThat(runs.attempt(8)).isFalse();
        runs.setLast(8);
        assertThat(runs.isOutdated()).isTrue();
        assertThat(runs.lackIfOutdated()).isTrue();
        assertThat(runs.attempt(9)).isFalse();

        CheckpointRun checkpoint = runs.beginCheckpoint();
        assertThat(checkpoint.run()).isEqualTo(8);
        runs.checkpointed(checkpoint);
        assertThat(runs.isLacking()).isFalse();
        assertThat(runs.attempt(9)).isTrue();
    }

    /**
     * A drop while the directory waits for the next run: the wait must not end with a directory that lacks it.
     */
    @Test
    void aDropForWhichTheDirectoryIsOutdatedKeepsItOutdated()
    {
        runs.setLast(8);
        assertThat(runs.lackIfOutdated()).isTrue();
        assertThat(runs.attempt(8)).isFalse();
        assertThat(runs.isOutdated()).isTrue();
    }

    /**
     * A checkpoint may be complete at any time after it began, without the drops that follow.
     */
    @Test
    void aCheckpointDoesNotHaveLaterDrops()
    {
        runs.lack();
        runs.setLast(8);
        CheckpointRun checkpoint = runs.beginCheckpoint();
        assertThat(runs.isOutdated()).isFalse();
        assertThat(runs.lackIfOutdated()).isFalse();
        assertThat(runs.lack()).isFalse();
        runs.checkpointed(checkpoint);
        assertThat(runs.isLacking()).isTrue();
        assertThat(runs.attempt(9)).isFalse();
        runs.setLast(9);
        assertThat(runs.isOutdated()).isTrue();
    }

    @Test
    void aFailedCheckpointLeavesTheDirectoryOutdated()
    {
        runs.lack();
        runs.setLast(8);
        CheckpointRun checkpoint = runs.beginCheckpoint();
        runs.checkpointFailed(checkpoint);
        assertThat(runs.isOutdated()).isTrue();
        assertThat(runs.isLacking()).isTrue();
    }
}
