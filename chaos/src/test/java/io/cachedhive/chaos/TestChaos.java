package io.cachedhive.chaos;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

class TestChaos
{
    @TempDir
    private Path directory;

    @Test
    void testUsage()
            throws Exception
    {
        assertThat(run(0, "--help")).isEqualTo(Files.readString(Path.of("src/main/resources/chaos-usage.txt")));
        assertThat(run(0, "--list")).contains("cache-worker-killed ", "file-replaced-in-mid-read ");
        assertThat(run(2, "--minutes", "0")).contains("--minutes must be above 0");
        assertThat(run(2, "--faults", "earthquake")).contains("unknown kind of fault earthquake");
        assertThat(run(2, "--clients", "0")).contains("--clients must be between 1 and 100");
    }

    @Test
    @Tag("slow")
    @Tag("exhaustive")
    void testTwoMinutes()
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", new Random().nextInt(1_000_000));
        System.out.println("-Dcachedhive.test.seed=" + seed);
        String report = run(0, "--minutes", "2", "--seed", Long.toString(seed), "--directory", directory.resolve("chaos").toString());
        assertThat(report).contains("chaos: ok seed " + seed);
    }

    private static String run(int exitCode, String... arguments)
    {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(output, true, UTF_8);
        int code = new Chaos(stream, stream).run(arguments);
        String text = output.toString(UTF_8);
        assertThat(code).as(text).isEqualTo(exitCode);
        return text;
    }
}
