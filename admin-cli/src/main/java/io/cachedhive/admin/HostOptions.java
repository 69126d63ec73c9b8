package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Failed;
import io.cachedhive.admin.host.WorkerHost;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.output.Column;
import io.cachedhive.admin.output.OutputFormat;
import io.cachedhive.admin.settings.HostFiles;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What all commands that ask hosts have in common.
 */
final class HostOptions
{
    @Option(
            names = "--hosts",
            split = ",",
            paramLabel = "HOST[:PORT]",
            description = "the hosts to ask, separated by commas, in place of the workers of the hosts file; the port is that of the cache worker's "
                    + "http-server.http.port (default: 8485)")
    private Set<WorkerHost> hosts = new LinkedHashSet<>();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "the hosts file, for the workers without --hosts (default: what CACHE_ADMIN_CONFIG names, else ~/.cache-admin.yaml)")
    private Path config;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            defaultValue = "5s",
            description = "how long to wait for each host, such as 500ms or 10s (default: ${DEFAULT-VALUE})")
    private Duration timeout = Duration.ofSeconds(5);

    @Option(
            names = "--secret-file",
            paramLabel = "FILE",
            description = "file with the cache workers' internal-communication.shared-secret, where they have one (default: with the hosts file, its "
                    + "secret-file); it is proven and never sent")
    private Path secretFile;

    @Option(
            names = "--output",
            paramLabel = "FORMAT",
            defaultValue = "table",
            description = "table, or json: one object per host and line, with all that the cache worker sent (default: ${DEFAULT-VALUE})")
    private OutputFormat output = OutputFormat.TABLE;

    /// Asks all hosts, prints their answers, and says what is wrong with those that gave none.
    ///
    /// @return the exit code
    /// @throws ClusterFileException if the hosts file is needed and cannot be used
    int run(String path, List<Column> columns, Console console)
            throws ClusterFileException
    {
        Optional<String> secret;
        try {
            secret = readSecret();
        }
        catch (IOException e) {
            console.problem("The file of --secret-file cannot be used (%s): name one that you may read, with the secret in it.".formatted(e.getMessage()));
            return ExitCode.WRONG_USAGE;
        }
        if (hosts.isEmpty()) {
            Cluster cluster = ClusterOptions.read(config);
            cluster.workers().forEach(host -> hosts.add(host.http()));
            if (secret.isEmpty()) {
                secret = HostFiles.readSecret(cluster);
            }
        }
        List<HostAnswer> answers;
        try (WorkerHosts workers = new WorkerHosts(List.copyOf(hosts), timeout, secret)) {
            answers = workers.ask(path, done -> console.progress("%s of %s hosts answered".formatted(done, hosts.size())));
        }
        console.clearProgress();

        output.printer(columns).print(answers, console.out());
        console.out().flush();

        List<Failed> failures = answers.stream()
                .filter(Failed.class::isInstance)
                .map(Failed.class::cast)
                .toList();
        failures.forEach(failure -> console.problem(failure.problem()));
        return failures.isEmpty() ? ExitCode.OK : ExitCode.HOST_FAILED;
    }

    private Optional<String> readSecret()
            throws IOException
    {
        if (secretFile == null) {
            return Optional.empty();
        }
        // editors end a file with a line feed
        String secret = Files.readString(secretFile).strip();
        if (secret.isEmpty()) {
            throw new IOException(secretFile + " is empty");
        }
        return Optional.of(secret);
    }
}
