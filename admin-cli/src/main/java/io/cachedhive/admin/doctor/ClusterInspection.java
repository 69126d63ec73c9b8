package io.cachedhive.admin.doctor;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.fault.Fault;
import io.cachedhive.admin.fault.Fault.Kind;
import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Answered;
import io.cachedhive.admin.host.HostAnswer.Failed;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.install.HostFacts;
import io.cachedhive.admin.install.Installation;
import io.cachedhive.admin.settings.HostFile;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.ssh.Ssh;
import io.cachedhive.admin.task.HostOutcome;
import io.cachedhive.admin.task.HostTasks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import static java.util.Objects.requireNonNull;

/**
 * Asks all hosts what a diagnosis needs, by ssh and by the cache workers' HTTP API.
 */
public final class ClusterInspection
{
    private static final Duration STATUS_TIMEOUT = Duration.ofSeconds(10);

    private final Ssh ssh;
    private final HostTasks tasks;
    private final HostFiles files;

    public ClusterInspection(Ssh ssh, HostTasks tasks, HostFiles files)
    {
        this.ssh = requireNonNull(ssh, "ssh is null");
        this.tasks = requireNonNull(tasks, "tasks is null");
        this.files = requireNonNull(files, "files is null");
    }

    /// @param hosts of the cluster that are looked at
    /// @throws ClusterFileException if the truststore or keystore cannot be used
    public List<Fault> diagnose(Cluster cluster, List<ClusterHost> hosts)
            throws ClusterFileException
    {
        List<Fault> faults = new ArrayList<>(Diagnosis.of(inspect(cluster, hosts), files.secrets(), files.secretIsMissing(), files.origins()));
        if (cluster.trinoUrl().isEmpty()) {
            faults.add(new Fault(Fault.THIS_MACHINE, Kind.CONFIGURATION, ("%s: trino-url is not set, and cache-admin disable does not know the coordinator in an emergency: "
                    + "set it, such as to http://coordinator.example.net:8080.").formatted(cluster.file())));
        }
        return faults;
    }

    private List<HostState> inspect(Cluster cluster, List<ClusterHost> hosts)
            throws ClusterFileException
    {
        Map<ClusterHost, HostFacts> facts = new ConcurrentHashMap<>();
        Map<ClusterHost, List<HostFile>> wanted = new ConcurrentHashMap<>();
        List<HostOutcome> outcomes = tasks.run(hosts, host -> {
            wanted.put(host, Installation.wanted(files, host));
            List<String> targets = Diagnosis.targets(host, cluster.workers(), ClusterInspection::address);
            facts.put(host, Installation.facts(ssh, host, Optional.of("@current"), wanted.get(host), targets));
            return HostOutcome.done(host, List.of());
        });

        List<ClusterHost> workers = hosts.stream().filter(ClusterHost::isWorker).toList();
        List<HostAnswer> answers;
        try (WorkerHosts http = new WorkerHosts(workers.stream().map(ClusterHost::http).toList(), STATUS_TIMEOUT, files.secret(), cluster.tls().context())) {
            answers = http.ask("/v1/status", _ -> {});
        }
        List<HostState> states = new ArrayList<>();
        for (HostOutcome outcome : outcomes) {
            ClusterHost host = outcome.host();
            Optional<HostAnswer> answer = host.isWorker() ? Optional.of(answers.get(workers.indexOf(host))) : Optional.empty();
            states.add(new HostState(
                    host,
                    Optional.ofNullable(facts.get(host)),
                    outcome.problem(),
                    answer.flatMap(value -> value instanceof Answered answered ? Optional.of(answered.content()) : Optional.empty()),
                    answer.flatMap(value -> value instanceof Failed failed ? Optional.of(failed.problem()) : Optional.empty()),
                    wanted.getOrDefault(host, List.of())));
        }
        return states;
    }

    private static Optional<String> address(ClusterHost host)
    {
        try {
            return Optional.of(HostFiles.address(host));
        }
        catch (ClusterFileException _) {
            // said of that host itself
            return Optional.empty();
        }
    }
}
