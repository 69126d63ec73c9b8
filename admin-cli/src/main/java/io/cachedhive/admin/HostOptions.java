package io.cachedhive.admin;

import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Failed;
import io.cachedhive.admin.host.WorkerHost;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.output.Column;
import io.cachedhive.admin.output.OutputFormat;
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
            required = true,
            paramLabel = "HOST[:PORT]",
            description = "the hosts to ask, separated by commas; the port is that of the cache worker's http-server.http.port (default: 8485)")
    private Set<WorkerHost> hosts = new LinkedHashSet<>();

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            defaultValue = "5s",
            description = "how long to wait for each host, such as 500ms or 10s (default: ${DEFAULT-VALUE})")
    private Duration timeout = Duration.ofSeconds(5);

    @Option(
            names = "--secret-file",
            paramLabel = "FILE",
            description = "file with the cache workers' internal-communication.shared-secret, where they have one; it is proven and never sent")
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
    int run(String path, List<Column> columns, Console console)
    {
        Optional<String> secret;
        try {
            secret = readSecret();
        }
        catch (IOException e) {
            console.problem("The file of --secret-file cannot be used (%s): name one that you may read, with the secret in it.".formatted(e.getMessage()));
            return ExitCode.WRONG_USAGE;
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
