package io.cachedhive.admin;

import com.fasterxml.jackson.databind.JsonNode;
import io.cachedhive.admin.bundle.Bundle;
import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFile.Changed;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Answered;
import io.cachedhive.admin.host.HostAnswer.Failed;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.install.FinalizePlan;
import io.cachedhive.admin.install.Installation;
import io.cachedhive.admin.install.TrinoHomeChange;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.task.HostOutcome;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;

/**
 * Brings another release, host by host.
 */
@Command(
        name = "upgrade",
        sortOptions = false,
        description = {
                "Brings another release, one host after the other: installs it, restarts the cache worker if it runs, and waits until that is back and has its blocks "
                        + "again. Stops at the first host that fails.",
                "The release before it stays on the hosts, for rollback, and so does the format of the SSD directories, which it has to read then: give both up with "
                        + "--finalize when nothing speaks for a way back any more.",
                "Trino servers use the new plugin after a restart, which is yours to do.",
                "With --trino-home, brings the plugin to another Trino home for an upgrade of Trino: cache workers are neither changed nor restarted, the present home "
                        + "stays as it is, and the hosts file names the new home afterwards. To go back, run it with the former home."})
final class UpgradeCommand
        implements Callable<Integer>
{
    /// A cache worker that is just writing a checkpoint ends that first.
    private static final Duration FINALIZE_TIMEOUT = Duration.ofMinutes(2);

    @ArgGroup(exclusive = true, multiplicity = "0..1")
    private Step step;

    @Option(
            names = "--trino-home",
            paramLabel = "DIRECTORY",
            description = "new trino-home of the hosts, with a Trino version that the release supports: the release of --package, or without it the installed one")
    private String trinoHome;

    @Option(names = "--engine-extension", description = "also the schema cache of Trino's catalog system, as in install")
    private boolean engineExtension;

    @Mixin
    private RollingOptions options;

    private final Console console;

    private static final class Step
    {
        @Option(names = "--package", required = true, paramLabel = "FILE", description = "the release: cachedhive-VERSION.tar.gz")
        private Path packageFile;

        @Option(
                names = "--finalize",
                required = true,
                description = "end the upgrade: from now on the cache workers write their SSD directories in the newest format that the release has. Releases that do not know it "
                        + "cannot take the cache back")
        private boolean end;
    }

    UpgradeCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        if (step == null && trinoHome == null) {
            throw new WrongUsageException("Missing required argument: name --package FILE, --trino-home DIRECTORY or --finalize (see cache-admin upgrade --help).");
        }
        if (step != null && step.end && trinoHome != null) {
            throw new WrongUsageException("--finalize and --trino-home are two steps: run the command with each of them.");
        }
        Cluster cluster = options.cluster();
        if (trinoHome != null) {
            return changeTrinoHome(cluster);
        }
        if (step.end) {
            return end(cluster);
        }
        Bundle bundle = Bundle.open(step.packageFile);
        HostFiles.requireSecret(cluster);
        HostFiles files = HostFiles.read(cluster);
        return options.run(
                cluster,
                (ssh, host) -> new Installation(ssh, bundle, files, engineExtension, options.isDryRun()).upgrade(host),
                Installation::finish,
                console);
    }

    /// All hosts are checked before the first one is changed, and the hosts file is written when all are.
    private int changeTrinoHome(Cluster cluster)
            throws ClusterFileException
    {
        List<ClusterHost> hosts = options.trinoHosts(cluster);
        if (hosts.isEmpty()) {
            throw new WrongUsageException("None of the hosts has a trino-home in %s that could be replaced: write it there, and run cache-admin install."
                    .formatted(cluster.file()));
        }
        Optional<Bundle> bundle = step == null ? Optional.empty() : Optional.of(Bundle.open(step.packageFile));
        HostFiles.requireSecret(cluster);
        Changed changed = ClusterFile.withTrinoHome(cluster.file(), hosts.stream().map(ClusterHost::name).collect(toSet()), trinoHome);
        Map<String, ClusterHost> targets = changed.cluster().hosts().stream().collect(toMap(ClusterHost::name, host -> host));
        TrinoHomeChange change = new TrinoHomeChange(options.ssh(cluster), HostFiles.read(changed.cluster()), bundle, engineExtension, options.isDryRun());

        Map<ClusterHost, TrinoHomeChange.Plan> plans = new ConcurrentHashMap<>();
        Map<ClusterHost, String> problems = new HashMap<>();
        for (HostOutcome outcome : options.tasks(cluster, console).run(hosts, host -> {
            plans.put(host, change.plan(host, targets.get(host.name())));
            return HostOutcome.done(host, List.of());
        })) {
            outcome.problem().ifPresent(problem -> problems.put(outcome.host(), problem));
        }
        if (!problems.isEmpty()) {
            return options.refuse(hosts, problems, console);
        }
        List<HostOutcome> outcomes = options.tasks(cluster, console).run(hosts, host -> HostOutcome.done(host, change.apply(plans.get(host))));
        int code = options.report(outcomes, console);
        if (code == ExitCode.OK && !options.isDryRun()) {
            changed.write();
            console.line("trino-home in %s is %s now: stop Trino on all hosts, and start it from this directory.".formatted(cluster.file(), trinoHome));
        }
        return code;
    }

    private int end(Cluster cluster)
            throws ClusterFileException
    {
        List<ClusterHost> workers = options.workers(cluster);
        FinalizePlan plan = FinalizePlan.of(workers, options.probe(cluster));
        if (!plan.problems().isEmpty()) {
            return options.refuse(cluster, plan.problems(), console);
        }
        HostFiles.requireSecret(cluster);
        List<HostOutcome> outcomes = new ArrayList<>();
        try (WorkerHosts http = new WorkerHosts(workers.stream().map(ClusterHost::http).toList(), FINALIZE_TIMEOUT, HostFiles.readSecret(cluster), cluster.tls().context())) {
            List<HostAnswer> before = http.ask("/v1/ssd-format", _ -> {});
            List<HostAnswer> after = options.isDryRun() ? before : http.ask("POST", "/v1/ssd-format", _ -> {});
            for (int index = 0; index < workers.size(); index++) {
                ClusterHost worker = workers.get(index);
                outcomes.add(switch (after.get(index)) {
                    case Failed failed -> HostOutcome.failed(worker, failed.problem());
                    case Answered answered -> HostOutcome.done(worker, raised(before.get(index), answered));
                });
            }
        }
        return options.report(outcomes, console);
    }

    /// What has another version now, or would have.
    private static List<String> raised(HostAnswer before, Answered after)
    {
        if (!(before instanceof Answered known)) {
            return List.of("format %s".formatted(after.content().path("newest").asInt()));
        }
        int newest = after.content().path("newest").asInt();
        List<String> raised = new ArrayList<>();
        for (JsonNode directory : known.content().path("directories")) {
            int version = directory.path("version").asInt();
            if (version < newest) {
                raised.add("%s from format %s to %s".formatted(directory.path("directory").asText(), version, newest));
            }
        }
        return raised;
    }
}
