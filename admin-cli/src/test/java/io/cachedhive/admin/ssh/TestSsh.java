package io.cachedhive.admin.ssh;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

class TestSsh
{
    @TempDir
    private Path directory;

    private Cluster cluster;
    private ClusterHost host;

    @BeforeEach
    void setUp()
            throws IOException, ClusterFileException
    {
        Path file = Files.writeString(directory.resolve("hosts.yaml"), "workers: [w1]\nssh-user: joe\nssh-port: 2222\nssh: {config-file: my.conf, connect-timeout: 7s}\n");
        cluster = ClusterFile.read(file);
        host = cluster.hosts().getFirst();
    }

    @Test
    void testArguments()
    {
        List<String> arguments = new Ssh(cluster.ssh()).arguments(host, "bash -s");

        assertThat(String.join(" ", arguments))
                .startsWith("ssh -T -F " + directory.resolve("my.conf"))
                .contains("-o BatchMode=yes", "-o ConnectTimeout=7", "-l joe", "-p 2222")
                // what follows is no option, whatever the host is called
                .endsWith("-- w1 bash -s");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            joe@w1: Permission denied (publickey).                              | w1 refuses the login of joe@w1: add your public key
            ssh: Could not resolve hostname w1: Name or service not known       | w1 is a name that is unknown to this machine: check
            ssh: connect to host w1 port 22: Connection refused                 | w1 has no sshd on that port: start it
            ssh: connect to host w1 port 22: Connection timed out               | w1 cannot be reached by ssh
            Host key verification failed.                                       | w1 is not in your known_hosts: log in by hand once
            @ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @                | w1 has a different host key than your known_hosts file
            kex_exchange_identification: banner line contains invalid characters | w1: ssh failed (kex_exchange_identification
            """)
    void testFailuresAreToldWithRemedy(String error, String sentence)
    {
        assertThat(Ssh.describe(host, error + "\n")).startsWith(sentence).endsWith(".");
    }

    @Test
    void testValuesReachTheScriptAsTheyAre()
            throws IOException, InterruptedException
    {
        String odd = "it's $HOME `id` \"x\" \\ end";
        RemoteScript script = RemoteScript.of("common.sh")
                .set("INSTALL", odd)
                .list("LIST", List.of("a b", odd))
                .call("fact", "value", odd)
                .call("eval", "fact install \"$INSTALL\"; fact count \"${#LIST[@]}\"; fact second \"${LIST[1]}\"");

        RemoteResult result = new RemoteResult(bash(script.text()));

        assertThat(result.facts()).containsEntry("value", odd).containsEntry("install", odd).containsEntry("count", "2").containsEntry("second", odd);
    }

    /**
     * bash reads no more than the script, and the path is not followed.
     */
    @Test
    void testFileBehindTheScript()
            throws IOException, InterruptedException
    {
        Path outside = Files.writeString(directory.resolve("outside"), "as it was");
        Path file = Files.createSymbolicLink(directory.resolve("it's a file"), outside);
        String content = "\u0000\n}\nexit 1\n".repeat(100_000);

        assertThat(bash(RemoteScript.receive(file.toString()).text() + content)).isEmpty();

        assertThat(Files.isSymbolicLink(file)).isFalse();
        assertThat(Files.readString(file)).isEqualTo(content);
        assertThat(outside).hasContent("as it was");
    }

    @Test
    void testOneCommandForSudo()
            throws IOException, ClusterFileException
    {
        assertThat(Ssh.command(host)).isEqualTo("bash -s");
        Path file = Files.writeString(directory.resolve("sudo.yaml"), "workers: [w1]\nsudo: true\n");
        String command = Ssh.command(ClusterFile.read(file).hosts().getFirst());

        assertThat(command).startsWith("sudo -n ");
        String page = Files.readString(Path.of(System.getProperty("user.dir")).resolveSibling("docs/operations/cache-admin.md"));
        assertThat(page.lines()).contains("cacheadmin ALL=(root) NOPASSWD: " + command.substring("sudo -n ".length()));
    }

    private static String bash(String script)
            throws IOException, InterruptedException
    {
        Process process = new ProcessBuilder("bash", "-s").redirectErrorStream(true).start();
        process.getOutputStream().write(script.getBytes(UTF_8));
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return output;
    }
}
