package io.cachedhive.benchmark.queries;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static java.nio.file.StandardOpenOption.APPEND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestPassFile
{
    @TempDir
    private Path directory;

    @Test
    void testGoesOnWhereItEnds()
            throws IOException
    {
        Path path = directory.resolve("passes.jsonl");
        PassFile file = new PassFile(path);
        assertThat(file.has("wide", StoreProfile.NEAR, 1, Phase.COLD)).isFalse();
        List<Pass> run = List.of(pass("wide", StoreProfile.NEAR, 1, Contender.HIVE), pass("wide", StoreProfile.NEAR, 1, Contender.CACHEDHIVE));
        file.add(run);
        file.add(List.of(pass("text", StoreProfile.FAR, 1, Contender.HIVE)));

        PassFile again = new PassFile(path);
        assertThat(again.passes()).hasSize(3).startsWith(run.getFirst(), run.getLast());
        assertThat(again.has("wide", StoreProfile.NEAR, 1, Phase.COLD)).isTrue();
        assertThat(again.has("wide", StoreProfile.NEAR, 2, Phase.COLD)).isFalse();
        assertThat(again.has("wide", StoreProfile.FAR, 1, Phase.COLD)).isFalse();
        assertThat(again.has("text", StoreProfile.FAR, 1, Phase.COLD)).isTrue();
        assertThat(again.has("text", StoreProfile.FAR, 1, Phase.HOST_REPLACED)).isFalse();
    }

    @Test
    void testOtherLine()
            throws IOException
    {
        Path path = directory.resolve("passes.jsonl");
        new PassFile(path).add(List.of(pass("wide", StoreProfile.NEAR, 1, Contender.HIVE)));
        Files.writeString(path, "{\"workload\":", APPEND);
        assertThatThrownBy(() -> new PassFile(path))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(path + " has a line that is no pass: delete the file to measure again");
    }

    private static Pass pass(String workload, StoreProfile profile, int run, Contender contender)
    {
        return new Pass(workload, profile, run, contender, false, Phase.COLD, 1.5, 2.5, 3.5, 4, 5, 6, 7, 8.5);
    }
}
