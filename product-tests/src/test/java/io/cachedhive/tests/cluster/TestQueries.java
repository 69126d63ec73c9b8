package io.cachedhive.tests.cluster;

import io.cachedhive.quickstart.Quickstart;
import org.testng.annotations.Test;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * All TPC-H queries against plain Hive, the requests that the S3 server saw, and bytes by source, with each strategy and over a restart:
 * the quickstart's own check, on small tables.
 */
@Test(groups = "queries", singleThreaded = true)
public class TestQueries
{
    @Test
    public void testQuickstartCheck()
            throws IOException
    {
        Path directory = TestingCluster.emptyDirectory("queries");
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        int exitCode;
        try (PrintStream out = new PrintStream(written, true, UTF_8)) {
            exitCode = new Quickstart(out, out).run("--check", "--scale", "0.01", "--directory", directory.toString());
        }
        finally {
            TestingCluster.deleteBytes("queries");
        }
        String output = written.toString(UTF_8);
        System.out.println(output);
        assertThat(exitCode).as("exit code of a check that wrote:%n%s", output).isZero();
        assertThat(output.lines().toList().getLast()).startsWith("quickstart: ok");
    }
}
