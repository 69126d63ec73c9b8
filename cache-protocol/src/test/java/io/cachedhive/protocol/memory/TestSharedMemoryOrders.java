package io.cachedhive.protocol.memory;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs {@link SharedMemoryOrders} in jcstress.
 */
@Tag("slow")
class TestSharedMemoryOrders
{
    private static final int TESTS = 4;
    private static final Pattern PASSED = Pattern.compile("All remaining tests: (?<passed>[0-9]+) matching test results");

    @TempDir
    private Path directory;

    /**
     * In one JVM each, as it is.
     */
    @Test
    @Timeout(120)
    void inShort()
            throws Exception
    {
        stress("-time", "1000", "-iters", "1", "-sc", "false", "-jvmArgs", "-Xmx256m");
    }

    /**
     * With each side interpreted, and compiled by each compiler, and with the JVM's own options for stress.
     */
    @Test
    @Tag("exhaustive")
    @Timeout(1200)
    void compiledInAllWays()
            throws Exception
    {
        stress("-time", "400", "-iters", "1", "-f", "1", "-fsm", "1", "-sc", "true");
    }

    private void stress(String... options)
            throws Exception
    {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp", System.getProperty("java.class.path"),
                "org.openjdk.jcstress.Main",
                "-t", SharedMemoryOrders.class.getName(),
                // fewer states at a time than there are frames for
                "-strideSize", "64",
                "-strideCount", "40",
                "-r", directory.resolve("report").toString()));
        command.addAll(List.of(options));
        Path log = directory.resolve("jcstress.log");
        Process process = new ProcessBuilder(command)
                // its results go to where it runs
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            process.waitFor();
        }
        finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
        String output = Files.readString(log);
        System.out.println(output);
        assertThat(process.exitValue()).as(output).isZero();
        assertThat(output).contains("Failed tests: No matches.").contains("Error tests: No matches.");
        Matcher passed = PASSED.matcher(output);
        assertThat(passed.find()).isTrue();
        assertThat(Integer.parseInt(passed.group("passed"))).isEqualTo(TESTS);
    }
}
