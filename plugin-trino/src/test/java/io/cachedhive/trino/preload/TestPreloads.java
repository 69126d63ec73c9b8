package io.cachedhive.trino.preload;

import io.cachedhive.plugin.preload.PreloadJob;
import io.cachedhive.plugin.preload.PreloadJobs;
import io.cachedhive.plugin.preload.PreloadState;
import io.cachedhive.plugin.table.TableName;
import io.trino.spi.TrinoException;
import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.Optional;

import static io.trino.spi.StandardErrorCode.GENERIC_USER_ERROR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

class TestPreloads
{
    private final PreloadJobs jobs = new PreloadJobs();

    private static PreloadJob job(String id)
    {
        return new PreloadJob(id, Optional.empty(), new TableName("s", "t"), Optional.empty(), Optional.empty(), 1, 100, Instant.EPOCH);
    }

    @Test
    void testRefusedJobPinsNothing()
    {
        Preloads.take(jobs, job("a"), () -> {});
        assertThatThrownBy(() -> Preloads.take(jobs, job("a"), () -> fail("it was pinned")))
                .isInstanceOf(TrinoException.class)
                .hasMessageContaining("preload a has not ended yet");
        PreloadJob unpinned = job("b");
        assertThatThrownBy(() -> Preloads.take(jobs, unpinned, () -> {
            throw new TrinoException(GENERIC_USER_ERROR, "nobody may");
        })).hasMessage("nobody may");
        assertThat(unpinned.state()).isEqualTo(PreloadState.FAILED);
        assertThat(unpinned.status().problem()).contains("it could not be pinned: nobody may");
        assertThat(jobs.add(job("b"))).isEmpty();
    }
}
