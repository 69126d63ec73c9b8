package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.install.HostScripts;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * The way back from an upgrade.
 */
@Command(
        name = "rollback",
        sortOptions = false,
        description = {
                "Goes back to the release before the last upgrade, one host after the other, as upgrade does.",
                "The configuration stays as it is. A second rollback goes forward again."})
final class RollbackCommand
        implements Callable<Integer>
{
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
        return options.run(
                options.cluster(),
                (ssh, host) -> ssh.run(host, HostScripts.script(host, "install.sh").set("DRY_RUN", options.isDryRun() ? "yes" : "no").call("rollback")).values("change"),
                console);
    }
}
