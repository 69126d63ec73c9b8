package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.install.HostFacts;
import io.cachedhive.admin.install.HostScripts;
import io.cachedhive.admin.install.Installation;
import io.cachedhive.admin.install.RollbackPlan;
import io.cachedhive.admin.settings.HostFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * The way back from an upgrade.
 */
@Command(
        name = "rollback",
        sortOptions = false,
        description = {
                "Returns to an earlier release on all hosts, one host at a time, like upgrade. Hosts that already have it are not changed.",
                "The configuration stays as it is. What a rollback has left is no release before any more: --to or upgrade lead there."})
final class RollbackCommand
        implements Callable<Integer>
{
    @Option(
            names = "--to",
            paramLabel = "RELEASE",
            description = "release to return to (default: the previous release of the first host that was upgraded)")
    private String release;

    @Mixin
    private RollingOptions options;

    private final Console console;

    RollbackCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        Map<ClusterHost, HostFacts> hosts = options.probe(cluster);
        if (hosts.values().stream().anyMatch(HostFacts::hasSecret)) {
            // or nobody could see whether a cache worker is back
            HostFiles.requireSecret(cluster);
        }
        RollbackPlan plan = RollbackPlan.of(hosts, Optional.ofNullable(release));
        if (!plan.problems().isEmpty()) {
            return options.refuse(cluster, plan.problems(), console);
        }
        plan.release().ifPresent(target -> console.line("Going back to release %s; hosts that have it already stay as they are.".formatted(target)));
        return options.run(
                cluster,
                (ssh, host) -> ssh.run(host, HostScripts.script(host, "install.sh")
                        .set("DRY_RUN", options.isDryRun() ? "yes" : "no")
                        .call("rollback", plan.release().orElse(""))).values("change"),
                Installation::finishRollback,
                console);
    }
}
