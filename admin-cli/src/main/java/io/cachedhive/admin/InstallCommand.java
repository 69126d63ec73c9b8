package io.cachedhive.admin;

import io.cachedhive.admin.bundle.Bundle;
import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.install.Installation;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.task.HostOutcome;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Brings cache worker, plugin and configuration to the hosts.
 */
@Command(
        name = "install",
        sortOptions = false,
        description = {
                "Installs cache worker, plugin and configuration on the hosts of the hosts file.",
                "Each host is checked first, and left alone if something is missing there. What is as it should be is not touched, so the command may be "
                        + "run again at any time. Nothing is started, and Trino is not restarted."})
final class InstallCommand
        implements Callable<Integer>
{
    @Option(names = "--package", required = true, paramLabel = "FILE", description = "the release: cachedhive-VERSION.tar.gz")
    private Path packageFile;

    @Option(
            names = "--engine-extension",
            description = "also the schema cache of Trino's catalog system: adds a jar to Trino's lib and changes main-class in its bin/launcher.properties")
    private boolean engineExtension;

    @Mixin
    private ClusterOptions options;

    @Mixin
    private DryRunOption dryRun;

    private final Console console;

    InstallCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        List<ClusterHost> hosts = options.select(cluster);
        Bundle bundle = Bundle.open(packageFile);
        if (HostFiles.isSecretMissing(cluster)) {
            // also those that are not installed now: they have to understand one another
            List<String> installed = options.probe(cluster, cluster.hosts()).entrySet().stream()
                    .filter(host -> host.getValue().hasSecret())
                    .map(host -> host.getKey().name())
                    .toList();
            if (!installed.isEmpty()) {
                throw new ClusterFileException("The secret-file %s does not exist, and a secret is in use on %s: copy the file from where cache-admin install ran.".formatted(
                        cluster.secretFile().orElseThrow(), String.join(", ", installed)));
            }
        }
        if (!dryRun.isSet()) {
            Optional<Path> made = HostFiles.createSecret(cluster);
            made.ifPresent(file -> console.line("A new shared secret of the cluster was written to %s: keep it.".formatted(file)));
        }
        Installation installation = new Installation(options.ssh(cluster), bundle, HostFiles.read(cluster), engineExtension, dryRun.isSet());
        List<HostOutcome> outcomes = options.tasks(cluster, console).run(hosts, host -> HostOutcome.done(host, installation.install(host)));
        return options.report(outcomes, dryRun.isSet() ? "WOULD CHANGE" : "CHANGED", "UNCHANGED", console);
    }
}
