package io.cachedhive.admin;

import io.cachedhive.admin.bundle.Bundle;
import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.install.Installation;
import io.cachedhive.admin.settings.HostFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Brings another release, host by host.
 */
@Command(
        name = "upgrade",
        sortOptions = false,
        description = {
                "Brings another release, one host after the other: installs it, restarts the cache worker if it runs, and waits until that is back and has its blocks "
                        + "again. Stops at the first host that fails.",
                "The release before it stays on the hosts, for rollback. Trino servers use the new plugin after a restart, which is yours to do."})
final class UpgradeCommand
        implements Callable<Integer>
{
    @Option(names = "--package", required = true, paramLabel = "FILE", description = "the release: cachedhive-VERSION.tar.gz")
    private Path packageFile;

    @Option(names = "--engine-extension", description = "also the schema cache of Trino's catalog system, as in install")
    private boolean engineExtension;

    @Mixin
    private RollingOptions options;

    private final Console console;

    UpgradeCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        Bundle bundle = Bundle.open(packageFile);
        HostFiles.requireSecret(cluster);
        HostFiles files = HostFiles.read(cluster);
        return options.run(cluster, (ssh, host) -> new Installation(ssh, bundle, files, engineExtension, options.isDryRun()).install(host), console);
    }
}
