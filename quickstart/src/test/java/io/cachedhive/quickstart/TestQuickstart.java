package io.cachedhive.quickstart;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Path;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

final class TestQuickstart
{
    @Test
    void testUsageNamesEveryOption()
    {
        Run run = run("--help");
        assertThat(run.code()).isZero();
        assertThat(run.error()).isEmpty();
        Quickstart quickstart = new Quickstart(System.out, System.err);
        for (CommandLine.Model.OptionSpec option : new CommandLine(quickstart).getCommandSpec().options()) {
            assertThat(run.out()).contains(option.names());
        }
    }

    @Test
    void testWrongUsage()
    {
        assertThat(run("--chek")).isEqualTo(new Run(2, "", "quickstart: Unknown option: '--chek'\n"));
        assertThat(run("--workers", "0")).isEqualTo(new Run(2, "", "quickstart: --workers must be between 1 and 20: 0\n"));
        assertThat(run("--scale", "0")).isEqualTo(new Run(2, "", "quickstart: --scale must be above 0 and at most 1000: 0.0\n"));
        assertThat(run("--scale", "NaN").code()).isEqualTo(2);
        assertThat(run("--latency=-1")).isEqualTo(new Run(2, "", "quickstart: --latency must not be negative: -1\n"));
    }

    @Test
    void testAnotherQuickstartIsRunning(@TempDir Path directory)
            throws IOException
    {
        long pid = ProcessHandle.current().pid();
        new RunningQuickstart(URI.create("http://127.0.0.1:8080"), "cachedhive", "tpch_orc", pid).write(directory);
        assertThat(run("--directory", directory.toString())).isEqualTo(new Run(
                3,
                "",
                "quickstart: another quickstart is running on %s, pid %s, at http://127.0.0.1:8080: use it with bin/sql, stop it with Ctrl-C there, or choose another --directory\n"
                        .formatted(directory, pid)));
    }

    @Test
    void testTablesOfAnotherScale(@TempDir Path directory)
            throws IOException
    {
        QuickstartDirectory memory = QuickstartDirectory.open(directory);
        memory.setScale("0.1");
        memory.setS3Endpoint("http://127.0.0.1:9000");
        memory.save();
        assertThat(QuickstartDirectory.open(directory).s3Endpoint()).hasValue("http://127.0.0.1:9000");

        assertThat(run("--directory", directory.toString(), "--scale", "1")).isEqualTo(new Run(
                3,
                "",
                "quickstart: %s holds tables of scale 0.1, not 1.0: choose another --directory, or delete that one\n".formatted(directory)));
    }

    private static Run run(String... arguments)
    {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream error = new ByteArrayOutputStream();
        int code = new Quickstart(new PrintStream(out, true, UTF_8), new PrintStream(error, true, UTF_8)).run(arguments);
        return new Run(code, out.toString(UTF_8), error.toString(UTF_8));
    }

    private record Run(int code, String out, String error) {}
}
