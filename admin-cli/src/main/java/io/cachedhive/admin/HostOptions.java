package io.cachedhive.admin;

import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Failed;
import io.cachedhive.admin.host.WorkerHost;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.output.Column;
import io.cachedhive.admin.output.OutputFormat;
import picocli.CommandLine.Option;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
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
        List<HostAnswer> answers;
        try (WorkerHosts workers = new WorkerHosts(List.copyOf(hosts), timeout)) {
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
}
