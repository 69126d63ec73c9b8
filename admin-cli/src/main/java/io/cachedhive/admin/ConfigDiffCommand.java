package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.install.Installation;
import io.cachedhive.admin.settings.HostFile;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.settings.Secrets;
import io.cachedhive.admin.task.HostOutcome;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * What a push would change, line by line.
 */
@Command(
        name = "diff",
        sortOptions = false,
        description = {
                "Shows the differences between the configuration of the hosts and of this machine: - for a line only on the host, + for a line only on this machine.",
                "Secrets are not shown. Exit code 4 if something differs."})
final class ConfigDiffCommand
        implements Callable<Integer>
{
    @Mixin
    private ClusterOptions options;

    private final Console console;

    ConfigDiffCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        HostFiles.requireSecret(cluster);
        HostFiles files = HostFiles.read(cluster);
        Secrets secrets = new Secrets();
        List<HostOutcome> outcomes = options.tasks(cluster, console).run(options.select(cluster), host -> {
            List<HostFile> wanted = Installation.wanted(files, host);
            Map<String, String> there = Installation.fetch(options.ssh(cluster), host, wanted.stream().map(HostFile::path).toList());
            List<String> lines = new ArrayList<>();
            for (HostFile file : wanted) {
                String content = there.get(file.path());
                if (content == null) {
                    lines.add(file.path() + ": is missing");
                }
                else if (!content.equals(file.content()) && file.secret()) {
                    lines.add(file.path() + ": differs");
                }
                else if (!content.equals(file.content())) {
                    lines.add(file.path() + ":");
                    difference(content, file.content()).forEach(line -> lines.add("  " + secrets.mask(line)));
                }
            }
            return HostOutcome.done(host, lines);
        });
        int code = options.report(outcomes, "DIFFERS", "SAME", console);
        return code == ExitCode.OK && outcomes.stream().anyMatch(outcome -> !outcome.notes().isEmpty()) ? ExitCode.FOUND : code;
    }

    /// Lines that only one of them has; where both have the same in another order, that is said.
    static List<String> difference(String there, String wanted)
    {
        Set<String> old = new LinkedHashSet<>(there.lines().toList());
        Set<String> fresh = new LinkedHashSet<>(wanted.lines().toList());
        List<String> lines = new ArrayList<>();
        old.stream().filter(line -> !fresh.contains(line)).forEach(line -> lines.add("- " + line));
        fresh.stream().filter(line -> !old.contains(line)).forEach(line -> lines.add("+ " + line));
        return lines.isEmpty() ? List.of("the same lines in another order, or some of them twice") : lines;
    }
}
