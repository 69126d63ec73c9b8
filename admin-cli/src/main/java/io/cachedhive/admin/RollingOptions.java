package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.install.HostFacts;
import io.cachedhive.admin.install.RollingChange;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.ssh.Ssh;
import io.cachedhive.admin.task.HostOutcome;
import io.cachedhive.admin.task.HostTasks;
import io.cachedhive.admin.task.TaskException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What upgrade and rollback have in common: one host after the other, and none after the first that fails.
 */
final class RollingOptions
{
    interface Change
    {
        /// @return what was changed
        List<String> apply(Ssh ssh, ClusterHost host)
                throws TaskException;
    }

    interface End
    {
        void apply(Ssh ssh, ClusterHost host)
                throws TaskException;
    }

    @Option(
            names = "--patience",
            paramLabel = "DURATION",
            defaultValue = "10m",
            description = "time limit for each cache worker to restart and restore its blocks (default: ${DEFAULT-VALUE})")
    private Duration patience;

    @Mixin
    private ClusterOptions options;

    @Mixin
    private DryRunOption dryRun;

    Cluster cluster()
            throws ClusterFileException
    {
        return options.cluster();
    }

    boolean isDryRun()
    {
        return dryRun.isSet();
    }

    /// What there is on the hosts, in the order in which they are changed; without those that cannot be asked.
    Map<ClusterHost, HostFacts> probe(Cluster cluster)
            throws ClusterFileException
    {
        return options.probe(cluster, hosts(cluster));
    }

    /// Those of the chosen hosts that have a cache worker.
    List<ClusterHost> workers(Cluster cluster)
            throws ClusterFileException
    {
        return hosts(cluster).stream().filter(ClusterHost::isWorker).toList();
    }

    /// Those of the chosen hosts that have a Trino home.
    List<ClusterHost> trinoHosts(Cluster cluster)
            throws ClusterFileException
    {
        return hosts(cluster).stream().filter(host -> host.trinoHome().isPresent()).toList();
    }

    Ssh ssh(Cluster cluster)
    {
        return options.ssh(cluster);
    }

    /// For what no cache worker is restarted for: several hosts at a time.
    HostTasks tasks(Cluster cluster, Console console)
    {
        return options.tasks(cluster, console);
    }

    int report(List<HostOutcome> outcomes, Console console)
    {
        return options.report(outcomes, dryRun.isSet() ? "WOULD CHANGE" : "CHANGED", "UNCHANGED", console);
    }

    /// Changes nothing.
    ///
    /// @param problems of some hosts
    /// @return the exit code
    int refuse(Cluster cluster, Map<ClusterHost, String> problems, Console console)
            throws ClusterFileException
    {
        return refuse(hosts(cluster), problems, console);
    }

    /// As the other one, of some hosts.
    int refuse(List<ClusterHost> hosts, Map<ClusterHost, String> problems, Console console)
    {
        List<HostOutcome> outcomes = hosts.stream()
                .map(host -> HostOutcome.failed(host, Optional.ofNullable(problems.get(host))
                        .orElse("%s: unchanged, because another host cannot be changed: fix that host, or select hosts with --hosts.".formatted(host))))
                .toList();
        return report(outcomes, console);
    }

    /// Workers first.
    private List<ClusterHost> hosts(Cluster cluster)
            throws ClusterFileException
    {
        return options.select(cluster).stream()
                .sorted(Comparator.comparing(host -> !host.isWorker()))
                .toList();
    }

    /// Applies the change to each host, workers first, and restarts the cache workers that ran and are changed.
    ///
    /// @param end of the change of a host, once all are changed; each host that fails there is told
    /// @return the exit code
    int run(Cluster cluster, Change change, End end, Console console)
            throws ClusterFileException
    {
        Ssh ssh = options.ssh(cluster);
        RollingChange rolling = new RollingChange(HostFiles.readSecret(cluster), cluster.tls().context(), patience);
        List<ClusterHost> hosts = hosts(cluster);
        HostTasks tasks = ClusterOptions.tasks(1, console);
        List<HostOutcome> outcomes = new ArrayList<>();
        boolean failed = false;
        for (ClusterHost host : hosts) {
            if (failed) {
                outcomes.add(HostOutcome.failed(host, "%s: unchanged, because an earlier host failed: fix that host and run the command again.".formatted(host)));
                continue;
            }
            HostOutcome outcome = tasks.run(List.of(host), one -> HostOutcome.done(one, roll(ssh, rolling, one, change))).getFirst();
            outcomes.add(outcome);
            failed = outcome.problem().isPresent();
        }
        if (!failed && !dryRun.isSet()) {
            for (int index = 0; index < hosts.size(); index++) {
                try {
                    end.apply(ssh, hosts.get(index));
                }
                catch (TaskException e) {
                    outcomes.set(index, HostOutcome.failed(hosts.get(index), e.getMessage()));
                }
            }
        }
        return report(outcomes, console);
    }

    private List<String> roll(Ssh ssh, RollingChange rolling, ClusterHost host, Change change)
            throws TaskException
    {
        long blocks = host.isWorker() ? rolling.ssdBlocks(host) : 0;
        List<String> changes = new ArrayList<>(change.apply(ssh, host));
        if (!host.isWorker()) {
            return changes;
        }
        // also one that an earlier run, which failed, left with the old release, or stopped, or not yet warm
        Optional<String> pending = Optional.ofNullable(ssh.run(host, ServiceAction.stopOutdated(host, blocks, dryRun.isSet())).facts().get("restart_pending"));
        if (pending.isPresent() && dryRun.isSet()) {
            changes.add("restart that an earlier run did not end");
        }
        else if (pending.isPresent()) {
            long wanted = Long.parseLong(pending.get());
            ssh.run(host, ServiceAction.START.script(host, false));
            long restored = rolling.awaitWarm(host, wanted);
            ssh.run(host, ServiceAction.restarted(host));
            changes.add("restarted, %s of %s blocks restored".formatted(restored, wanted));
        }
        return changes;
    }
}
