package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.install.Installation;
import io.cachedhive.admin.settings.CertificateFile;
import io.cachedhive.admin.settings.CertificateFile.Role;
import io.cachedhive.admin.settings.CertificatePlaces;
import io.cachedhive.admin.settings.HostFile;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.task.HostOutcome;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Copies certificates to the hosts.
 */
@Command(
        name = "push",
        sortOptions = false,
        description = {
                "Checks certificates and keys, and copies them to the hosts, to the paths in worker-properties or in the catalogs.",
                "Running processes read the files again within a minute."})
final class CertificatePushCommand
        implements Callable<Integer>
{
    @ArgGroup(exclusive = true, multiplicity = "1")
    private Source source;

    @Option(names = "--truststore", paramLabel = "FILE", description = "PEM file with the authorities that sign the certificates of peers")
    private Path truststore;

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            defaultValue = "WORKER",
            description = "WORKER for cache workers, CLIENT for Trino servers (default: ${DEFAULT-VALUE})")
    private Role role;

    @Mixin
    private ClusterOptions options;

    @Mixin
    private DryRunOption dryRun;

    private final Console console;

    private static final class Source
    {
        @ArgGroup(exclusive = false)
        private Files files;

        @Option(
                names = "--directory",
                required = true,
                paramLabel = "DIRECTORY",
                description = "directory with HOST.pem for each host: its certificate with its chain, and its key")
        private Path directory;
    }

    private static final class Files
    {
        @Option(names = "--certificate", required = true, paramLabel = "FILE", description = "PEM file with the certificate of all hosts, and its chain")
        private Path certificate;

        @Option(names = "--key", required = true, paramLabel = "FILE", description = "PEM file with the key of this certificate")
        private Path key;
    }

    CertificatePushCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        HostFiles files = HostFiles.read(cluster);
        Clock clock = Clock.systemUTC();
        Optional<String> authorities = Optional.empty();
        if (truststore != null) {
            authorities = Optional.of(CertificateFile.readTruststore(truststore, clock));
        }
        // all of them before the first host
        Map<ClusterHost, List<HostFile>> wanted = new LinkedHashMap<>();
        Map<ClusterHost, CertificateFile> certificates = new LinkedHashMap<>();
        for (ClusterHost host : options.select(cluster)) {
            if (role == Role.WORKER ? !host.isWorker() : host.trinoHome().isEmpty()) {
                continue;
            }
            CertificatePlaces places = CertificatePlaces.of(host, role, files.catalogs(), authorities.isPresent());
            Path certificate = source.directory != null ? source.directory.resolve(host.name() + ".pem") : source.files.certificate;
            CertificateFile file = CertificateFile.read(certificate, source.directory != null ? certificate : source.files.key, places.password(), role, clock);
            if (truststore != null) {
                file.checkTrusted(truststore, clock);
            }
            certificates.put(host, file);
            wanted.put(host, places.files(role, file.content(), authorities));
        }
        List<HostOutcome> outcomes = options.tasks(cluster, console).run(List.copyOf(wanted.keySet()), host -> {
            List<String> changes = new ArrayList<>(Installation.pushFiles(options.ssh(cluster), host, wanted.get(host), dryRun.isSet()));
            if (!changes.isEmpty()) {
                changes.add("valid until " + certificates.get(host).validUntil());
            }
            return HostOutcome.done(host, changes);
        });
        return options.report(outcomes, dryRun.isSet() ? "WOULD CHANGE" : "CHANGED", "UNCHANGED", console);
    }
}
