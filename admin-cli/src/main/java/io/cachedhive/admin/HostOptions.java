package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Failed;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.output.Column;
import io.cachedhive.admin.output.OutputFormat;
import io.cachedhive.admin.task.TaskException;
import picocli.CommandLine.Option;

import java.util.List;

/**
 * What all commands that ask hosts once have in common.
 */
final class HostOptions
        extends WorkerOptions
{
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
    /// @throws TaskException if Trino does not name the cache workers
    int run(String path, List<Column> columns, Console console)
            throws ClusterFileException, TaskException
    {
        return run(select(console), "GET", path, columns, console);
    }

    /// As {@link #run(String, List, Console)}, for hosts that are selected already and with another method of HTTP.
    int run(Selection selection, String method, String path, List<Column> columns, Console console)
    {
        List<HostAnswer> answers;
        try (WorkerHosts workers = workers(selection.hosts(), selection.secrets()::get, selection.tls())) {
            answers = workers.ask(method, path, done -> console.progress("%s of %s hosts answered".formatted(done, selection.hosts().size())));
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
