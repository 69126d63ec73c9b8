package io.cachedhive.worker.fsck;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

class TestCheckOrigins
{
    @TempDir
    private Path directory;

    @Test
    void testAccepted()
            throws IOException
    {
        write("default", "s3.region=eu-1\ns3.aws-access-key=${ENV:NOT_SET_ON_THIS_HOST}\ns3.aws-secret-key=${ENV:NOT_SET_EITHER}\n");
        Files.writeString(directory.resolve("notes.txt"), "s3.regoin=eu-1\n");

        assertThat(check(directory.toString(), CheckOrigins.EXIT_ACCEPTED)).isEmpty();
    }

    @Test
    void testRefused()
            throws IOException
    {
        write("a", "s3.region=eu-1\n");
        write("b", "s3.region=eu-1\ns3.iam-role=arn:aws:iam::1:role/r\n");
        write("c", "s3.region=eu-1\ns3.regoin=eu-1\ns3.sse.customer-key=k\n");

        assertThat(check(directory.toString(), CheckOrigins.EXIT_REFUSED).lines()).satisfiesExactly(
                line -> assertThat(line).contains("b.properties", "s3.iam-role must be set when, and only when, s3.auth-type=IAM_ROLE"),
                line -> assertThat(line).contains("c.properties", "s3.regoin", "s3.sse.customer-key"));
    }

    @Test
    void testNotChecked()
    {
        assertThat(check(directory.resolve("missing").toString(), CheckOrigins.EXIT_NOT_CHECKED)).contains("cannot be listed");
        assertThat(check("--help", CheckOrigins.EXIT_NOT_CHECKED)).contains("usage");
    }

    private void write(String name, String text)
            throws IOException
    {
        Files.writeString(directory.resolve(name + ".properties"), text);
    }

    private static String check(String argument, int exitCode)
    {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (PrintStream stream = new PrintStream(out, true, UTF_8)) {
            assertThat(CheckOrigins.run(List.of(argument), stream, stream)).isEqualTo(exitCode);
        }
        return out.toString(UTF_8);
    }
}
