package io.cachedhive.admin.ssh;

import io.cachedhive.admin.cluster.Cluster.SshSettings;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.task.TaskException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * Runs scripts on hosts by the system's OpenSSH client, with its configuration, agent, jump hosts and known hosts. It never asks for anything.
 */
public final class Ssh
{
    private static final int SSH_FAILED = 255;
    // logs of a day are more than anybody reads here
    private static final int MAX_OUTPUT_BYTES = 256 << 20;

    private final SshSettings settings;

    public Ssh(SshSettings settings)
    {
        this.settings = requireNonNull(settings, "settings is null");
    }

    /// Runs the script with bash.
    ///
    /// @throws TaskException if the host cannot be reached, the script says a problem (`problem=...`), or it fails
    public RemoteResult run(ClusterHost host, RemoteScript script)
            throws TaskException
    {
        return execute(host, script, Optional.empty());
    }

    /// Writes a local file to a path of the host, whose directory exists.
    public void send(ClusterHost host, Path file, String remotePath)
            throws TaskException
    {
        // behind the script on the standard input: sudo has one command to allow
        execute(host, RemoteScript.receive(remotePath), Optional.of(file));
    }

    /// What runs on the host, which is all that its sudoers file has to allow (docs/operations/cache-admin.md).
    static String command(ClusterHost host)
    {
        return host.sudo() ? "sudo -n /bin/bash -s" : "bash -s";
    }

    private RemoteResult execute(ClusterHost host, RemoteScript script, Optional<Path> input)
            throws TaskException
    {
        ProcessBuilder builder = new ProcessBuilder(arguments(host, command(host)));
        Process process;
        try {
            process = builder.start();
        }
        catch (IOException e) {
            throw new TaskException("%s: ssh cannot be started on this machine (%s): install the OpenSSH client.".formatted(host, e.getMessage()));
        }
        try {
            CompletableFuture<byte[]> output = read(process.getInputStream());
            CompletableFuture<byte[]> error = read(process.getErrorStream());
            // on a thread of its own: a host that does not read must not keep this one beyond the time-out
            Thread.ofPlatform().daemon().start(() -> {
                try (OutputStream out = process.getOutputStream()) {
                    out.write(script.text().getBytes(UTF_8));
                    if (input.isPresent()) {
                        Files.copy(input.get(), out);
                    }
                }
                catch (IOException _) {
                    // ssh has ended: its exit code and standard error say why
                }
            });
            Duration timeout = settings.commandTimeout();
            if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
                throw new TaskException("%s: the command did not end within %s s: see what hangs there, or allow more with command-timeout in the hosts file."
                        .formatted(host, timeout.toSeconds()));
            }
            RemoteResult result = new RemoteResult(new String(output.join(), UTF_8));
            String errorText = new String(error.join(), UTF_8);
            List<String> problems = result.values("problem");
            if (!problems.isEmpty()) {
                throw new TaskException("%s: %s".formatted(host, String.join(" ", problems)));
            }
            if (process.exitValue() == SSH_FAILED) {
                throw new TaskException(describe(host, errorText));
            }
            if (process.exitValue() != 0) {
                throw new TaskException(describeFailure(host, process.exitValue(), errorText));
            }
            return result;
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new TaskException("%s: interrupted: run the command again, it goes on where it was.".formatted(host));
        }
        finally {
            process.destroyForcibly();
        }
    }

    List<String> arguments(ClusterHost host, String command)
    {
        List<String> arguments = new ArrayList<>(List.of("ssh", "-T"));
        settings.configFile().ifPresent(file -> arguments.addAll(List.of("-F", file.toString())));
        arguments.addAll(List.of(
                "-o", "BatchMode=yes",
                "-o", "ConnectTimeout=" + Math.max(1, settings.connectTimeout().toSeconds()),
                // a host that is lost in the middle
                "-o", "ServerAliveInterval=15",
                "-o", "ServerAliveCountMax=4"));
        host.sshUser().ifPresent(user -> arguments.addAll(List.of("-l", user)));
        host.sshPort().ifPresent(port -> arguments.addAll(List.of("-p", Integer.toString(port))));
        arguments.addAll(List.of("--", host.name(), command));
        return arguments;
    }

    private static CompletableFuture<byte[]> read(InputStream stream)
    {
        CompletableFuture<byte[]> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            byte[] buffer = new byte[8192];
            try (stream) {
                for (int count = stream.read(buffer); count >= 0; count = stream.read(buffer)) {
                    // what is beyond is read and dropped, so that the other end does not block
                    if (bytes.size() < MAX_OUTPUT_BYTES) {
                        bytes.write(buffer, 0, count);
                    }
                }
            }
            catch (IOException _) {
                // the process was ended: what was read so far is what there is
            }
            result.complete(bytes.toByteArray());
        });
        return result;
    }

    private static String describeFailure(ClusterHost host, int code, String error)
    {
        String said = lastLine(error);
        if (code == 127 || said.contains("bash: not found") || said.contains("bash: command not found")) {
            return "%s: a program is missing there (%s): install it (bash, coreutils, tar and gzip are needed).".formatted(host, said);
        }
        if (said.contains("sudo:")) {
            return "%s: sudo refuses (%s): allow the ssh user to run /bin/bash -s by sudo without a password, or set sudo to false.".formatted(host, said);
        }
        return "%s: the command failed with exit code %s (%s): fix the cause and run it again.".formatted(host, code, said.isEmpty() ? "no output" : said);
    }

    static String describe(ClusterHost host, String error)
    {
        String said = lastLine(error);
        String target = host.sshUser().map(user -> user + "@").orElse("") + host.name();
        if (error.contains("Permission denied")) {
            return "%s refuses the login of %s: add your public key there (ssh-copy-id %s), load it into the agent, or set ssh-user in the hosts file."
                    .formatted(host, target, target);
        }
        if (error.contains("REMOTE HOST IDENTIFICATION HAS CHANGED")) {
            return ("%s has a different host key than your known_hosts file: if the host was reinstalled, "
                    + "remove the old key (ssh-keygen -R %s), otherwise find out which machine answers.")
                    .formatted(host, host);
        }
        if (error.contains("Host key verification failed")) {
            return "%s is not in your known_hosts: log in by hand once (ssh %s) and compare its key.".formatted(host, target);
        }
        if (error.contains("Could not resolve hostname")) {
            return "%s is a name that is unknown to this machine: check the spelling, or give the host an address by HostName in ssh's configuration.".formatted(host);
        }
        if (error.contains("Connection refused")) {
            return "%s has no sshd on that port: start it, or set ssh-port in the hosts file.".formatted(host);
        }
        if (error.contains("timed out") || error.contains("No route to host") || error.contains("Network is unreachable")) {
            return "%s cannot be reached by ssh (%s): check that the host is up and that no firewall stands between.".formatted(host, said);
        }
        return "%s: ssh failed (%s): try ssh %s by hand.".formatted(host, said.isEmpty() ? "no output" : said, target);
    }

    private static String lastLine(String text)
    {
        return text.lines().map(String::strip).filter(line -> !line.isEmpty()).reduce((_, last) -> last).orElse("");
    }
}
