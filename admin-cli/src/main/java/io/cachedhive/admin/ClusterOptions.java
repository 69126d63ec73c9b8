package io.cachedhive.admin;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.install.HostFacts;
import io.cachedhive.admin.install.Installation;
import io.cachedhive.admin.output.OutputFormat;
import io.cachedhive.admin.output.TextTable;
import io.cachedhive.admin.ssh.Ssh;
import io.cachedhive.admin.task.HostOutcome;
import io.cachedhive.admin.task.HostTasks;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What all commands have in common that work on the hosts of the hosts file.
 */
final class ClusterOptions
{
    private static final String CONFIG_VARIABLE = "CACHE_ADMIN_CONFIG";

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "hosts file (default: the value of CACHE_ADMIN_CONFIG, or ~/.cache-admin.yaml)")
    private Path config;

    @Option(
            names = "--hosts",
            split = ",",
            paramLabel = "HOST|GROUP",
            description = "comma-separated hosts and groups of the hosts file (default: all hosts)")
    private Set<String> hosts = new LinkedHashSet<>();

    @Option(
            names = "--parallel",
            paramLabel = "N",
            description = "number of hosts processed at the same time (default: `parallel` of the hosts file, or 16)")
    private Integer parallel;

    @Option(
            names = "--output",
            paramLabel = "FORMAT",
            defaultValue = "table",
            description = "table, or json: one object per host and line (default: ${DEFAULT-VALUE})")
    private OutputFormat output = OutputFormat.TABLE;

    /// The hosts file; where there is none, writes the example and says so.
    ///
    /// @throws ClusterFileException if it cannot be used
    static Cluster read(Path option)
            throws ClusterFileException
    {
        Path file = locate(option);
        if (Files.notExists(file)) {
            try {
                ClusterFile.writeTemplate(file);
            }
            catch (IOException e) {
                throw new ClusterFileException("There is no hosts file %s, and none can be written there (%s): name another place with --config or %s."
                        .formatted(file, e.getClass().getSimpleName(), CONFIG_VARIABLE));
            }
            throw new ClusterFileException("There was no hosts file, so %s was written with an example: name your hosts in it, and run the command again.".formatted(file));
        }
        return ClusterFile.read(file);
    }

    static Path locate(Path option)
    {
        if (option != null) {
            return option.toAbsolutePath();
        }
        String variable = System.getenv(CONFIG_VARIABLE);
        if (variable != null && !variable.isBlank()) {
            return Path.of(variable).toAbsolutePath();
        }
        return Path.of(System.getProperty("user.home"), ".cache-admin.yaml");
    }

    Cluster cluster()
            throws ClusterFileException
    {
        return read(config);
    }

    /// @throws WrongUsageException if a host or group is unknown
    List<ClusterHost> select(Cluster cluster)
    {
        try {
            return cluster.select(hosts);
        }
        catch (IllegalArgumentException e) {
            throw new WrongUsageException("--hosts: %s.".formatted(e.getMessage()));
        }
    }

    boolean isJson()
    {
        return output == OutputFormat.JSON;
    }

    Ssh ssh(Cluster cluster)
    {
        return new Ssh(cluster.ssh());
    }

    HostTasks tasks(Cluster cluster, Console console)
    {
        return tasks(parallel == null ? cluster.ssh().parallel() : Math.max(1, parallel), console);
    }

    /// @param atATime hosts
    static HostTasks tasks(int atATime, Console console)
    {
        return new HostTasks(atATime, new HostTasks.Progress()
        {
            @Override
            public void update(int done, int total, Set<String> running)
            {
                List<String> names = new ArrayList<>(new TreeSet<>(running));
                String who = names.size() > 4 ? String.join(", ", names.subList(0, 4)) + ", ..." : String.join(", ", names);
                console.progress("%s of %s hosts done%s".formatted(done, total, names.isEmpty() ? "" : ", working on " + who));
            }

            @Override
            public void ended(HostOutcome outcome)
            {
                if (!console.errorIsTerminal()) {
                    console.line("%s: %s".formatted(outcome.host(), outcome.problem().isPresent() ? "failed" : "done"));
                }
            }
        });
    }

    /// @return what there is on the hosts, in their order; without those that cannot be asked
    Map<ClusterHost, HostFacts> probe(Cluster cluster, List<ClusterHost> hosts)
    {
        Ssh ssh = ssh(cluster);
        Map<ClusterHost, HostFacts> found = new ConcurrentHashMap<>();
        new HostTasks(cluster.ssh().parallel(), HostTasks.Progress.NONE).run(hosts, host -> {
            found.put(host, Installation.facts(ssh, host, Optional.empty(), List.of(), List.of()));
            return HostOutcome.done(host, List.of());
        });
        Map<ClusterHost, HostFacts> ordered = new LinkedHashMap<>();
        hosts.stream().filter(found::containsKey).forEach(host -> ordered.put(host, found.get(host)));
        return ordered;
    }

    /// Prints a line per host, a sentence per failed host, and the summary.
    ///
    /// @param resultWithNotes what a host that did not fail is called when it has notes
    /// @param resultWithoutNotes what it is called when it has none
    /// @return the exit code
    int report(List<HostOutcome> outcomes, String resultWithNotes, String resultWithoutNotes, Console console)
    {
        console.clearProgress();
        TextTable table = new TextTable(List.of("HOST", "RESULT", "DETAILS"));
        int failed = 0;
        int changed = 0;
        for (HostOutcome outcome : outcomes) {
            String result = outcome.problem().isPresent() ? "FAILED" : outcome.notes().isEmpty() ? resultWithoutNotes : resultWithNotes;
            failed += outcome.problem().isPresent() ? 1 : 0;
            changed += outcome.problem().isEmpty() && !outcome.notes().isEmpty() ? 1 : 0;
            if (isJson()) {
                ObjectNode line = JsonNodeFactory.instance.objectNode();
                line.put("host", outcome.host().name());
                line.put("result", result);
                outcome.values().forEach(line::put);
                ArrayNode notes = line.putArray("details");
                outcome.notes().forEach(notes::add);
                outcome.problem().ifPresent(problem -> line.put("problem", problem));
                console.out().println(line);
            }
            else {
                table.add(List.of(outcome.host().name(), result, outcome.notes().isEmpty() ? "" : outcome.notes().getFirst()));
                outcome.notes().stream().skip(1).forEach(note -> table.add(List.of("", "", note)));
            }
        }
        if (!isJson()) {
            table.print(console.out());
        }
        console.out().flush();
        outcomes.stream().map(HostOutcome::problem).flatMap(Optional::stream).forEach(console::problem);
        console.line("%s: %s %s, %s %s, %s failed".formatted(
                outcomes.size() == 1 ? "1 host" : outcomes.size() + " hosts",
                changed, resultWithNotes.toLowerCase(Locale.ROOT),
                outcomes.size() - changed - failed, resultWithoutNotes.toLowerCase(Locale.ROOT),
                failed));
        return failed == 0 ? ExitCode.OK : ExitCode.HOST_FAILED;
    }
}
