package io.cachedhive.benchmark.queries;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import javax.imageio.ImageIO;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class TestQueryReport
{
    @TempDir
    private Path directory;

    @Test
    void testMediansAndPlots()
            throws IOException
    {
        List<Pass> passes = new ArrayList<>();
        double[] factors = {1, 9, 2};
        for (int run = 1; run <= 3; run++) {
            for (Contender contender : Contender.values()) {
                for (Phase phase : List.of(Phase.COLD, Phase.WARM)) {
                    double wall = (contender.ordinal() + 1) * 100 * factors[run - 1];
                    passes.add(new Pass("wide", StoreProfile.NEAR, run, contender, false, phase, wall, 10, 1, 7, 0, 0, 0, 0));
                    passes.add(new Pass("wide", StoreProfile.NEAR, run, contender, true, phase, 1, 1, 1, 1, 1, 1, 1, 1));
                }
            }
        }

        new QueryReport(passes, "bin/benchmark queries --directory <here>").write(directory);

        assertThat(Files.readString(directory.resolve("queries.html")))
                .contains("<code>bin/benchmark queries --directory &lt;here&gt;</code>")
                .contains("<td>wide</td><td>200 ms</td><td>400 ms</td><td>600 ms</td><td>800 ms</td>")
                .contains("<td>wide</td><td>7</td><td>7</td><td>7</td><td>7</td>")
                .contains("src=\"queries-near-warm-time.png\"");
        assertThat(ImageIO.read(directory.resolve("queries-near-warm-time.png").toFile()).getWidth()).isEqualTo(1200);
    }
}
