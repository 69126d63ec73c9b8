package io.cachedhive.admin;

import com.fasterxml.jackson.databind.JsonNode;
import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Answered;
import io.cachedhive.admin.host.HostAnswer.Failed;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.install.HostFacts;
import io.cachedhive.admin.install.Installation;
import io.cachedhive.admin.install.SecretRotation;
import io.cachedhive.admin.install.SecretRotation.FoundSecrets;
import io.cachedhive.admin.install.SecretRotation.WorkerSecrets;
import io.cachedhive.admin.settings.HostFile;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.settings.SecretFile;
import io.cachedhive.admin.settings.SecretFile.Content;
import io.cachedhive.admin.ssh.Ssh;
import io.cachedhive.admin.task.HostOutcome;
import io.cachedhive.admin.task.HostTasks;
import io.cachedhive.admin.task.TaskException;
import io.cachedhive.admin.worker.WorkerFields;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import javax.net.ssl.SSLContext;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;

import static java.util.Objects.requireNonNull;

/**
 * Exchanges the shared secret of the cluster.
 */
@Command(
        name = "rotate",
        sortOptions = false,
        description = {
                "Replaces the shared secret on all hosts, without a restart and without a failed read. Both secrets are valid until no connection uses the former one; "
                        + "then the former secret is removed and refused.",
                "If the command stops, both secrets stay valid. Run it again to continue where it stopped."})
final class SecretRotateCommand
        implements Callable<Integer>
{
    private static final Duration STATUS_TIMEOUT = Duration.ofSeconds(10);

    @Option(names = "--secret-file", paramLabel = "FILE", description = "file with the new secret (default: 48 random bytes in Base64)")
    private Path newSecret;

    @Option(
            names = "--patience",
            paramLabel = "DURATION",
            defaultValue = "5m",
            description = "time limit for all connections to use the new secret (default: ${DEFAULT-VALUE})")
    private Duration patience;

    @Mixin
    private ClusterOptions options;

    @Mixin
    private DryRunOption dryRun;

    private final Console console;

    SecretRotateCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Cluster cluster = options.cluster();
        List<ClusterHost> hosts = cluster.hosts();
        if (options.select(cluster).size() != hosts.size()) {
            throw new WrongUsageException("--hosts: a secret is exchanged on all hosts of the cluster: run the command without --hosts.");
        }
        HostFiles.requireSecret(cluster);
        if (cluster.secretFile().isEmpty()) {
            throw new ClusterFileException("The cluster has no secret to rotate: name a secret-file in %s, and run cache-admin config push.".formatted(cluster.file()));
        }
        HostFiles files = HostFiles.read(cluster);
        if (!files.ownSecrets().isEmpty()) {
            throw new ClusterFileException("cache-admin does not write the secret of %s: remove it there, run cache-admin config push, and restart the processes that read it."
                    .formatted(String.join(", ", files.ownSecrets())));
        }
        Optional<String> secret = Optional.empty();
        if (newSecret != null) {
            secret = Optional.of(SecretFile.read(newSecret).preferred());
        }
        Path file = cluster.secretFile().get();
        SecretRotation rotation = new SecretRotation(
                hosts,
                new SshHosts(options.ssh(cluster), options.tasks(cluster, console), hosts, files, cluster.tls().context()),
                new SecretRotation.SecretStore()
                {
                    @Override
                    public Content read()
                            throws ClusterFileException
                    {
                        return SecretFile.read(file);
                    }

                    @Override
                    public void write(Content content)
                            throws ClusterFileException
                    {
                        SecretFile.write(file, content);
                    }
                },
                patience,
                System::nanoTime,
                SecretRotateCommand::sleep,
                console::line);
        List<HostOutcome> outcomes = rotation.run(secret, dryRun.isSet());
        int code = options.report(outcomes, dryRun.isSet() ? "WOULD CHANGE" : "CHANGED", "UNCHANGED", console);
        if (code != ExitCode.OK) {
            console.line("The rotation is not complete: fix the cause and run the command again, it continues where it stopped.");
        }
        return code;
    }

    private static void sleep(Duration duration)
    {
        try {
            Thread.sleep(duration);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private static final class SshHosts
            implements SecretRotation.Hosts
    {
        private final Ssh ssh;
        private final HostTasks tasks;
        private final List<ClusterHost> hosts;
        private final HostFiles files;
        private final SSLContext tls;

        private SshHosts(Ssh ssh, HostTasks tasks, List<ClusterHost> hosts, HostFiles files, SSLContext tls)
        {
            this.ssh = ssh;
            this.tasks = tasks;
            this.hosts = hosts;
            this.files = files;
            this.tls = tls;
        }

        @Override
        public Map<ClusterHost, FoundSecrets> read()
        {
            Map<ClusterHost, FoundSecrets> found = new ConcurrentHashMap<>();
            tasks.run(hosts, host -> {
                found.put(host, read(host));
                return HostOutcome.done(host, List.of());
            }).forEach(outcome -> outcome.problem().ifPresent(problem -> found.put(outcome.host(), new FoundSecrets(List.of(), false, Optional.of(problem)))));
            return found;
        }

        private FoundSecrets read(ClusterHost host)
                throws TaskException
        {
            HostFacts facts = Installation.facts(ssh, host, Optional.empty(), List.of(), List.of());
            if (facts.text("current").isEmpty()) {
                throw new TaskException("%s: nothing is installed in %s: run cache-admin install.".formatted(host, host.installDirectory()));
            }
            List<HostFile> wanted = Installation.wanted(files, host);
            Map<String, String> contents = Installation.fetch(ssh, host, wanted.stream().map(HostFile::path).toList());
            Set<String> missing = new LinkedHashSet<>();
            List<List<String>> secrets = new ArrayList<>();
            for (HostFile file : wanted) {
                String content = contents.getOrDefault(file.path(), "");
                if (file.secret()) {
                    List<String> lines = SecretRotation.parse(content);
                    if (lines.isEmpty()) {
                        missing.add(file.path());
                    }
                    secrets.add(lines);
                }
                else if (HostFiles.namesSecretFile(file.content()) && !HostFiles.namesSecretFile(content)) {
                    missing.add(file.path());
                }
            }
            return new FoundSecrets(secrets, facts.text("pid").isPresent(), SecretRotation.unprepared(host, missing));
        }

        @Override
        public List<HostOutcome> write(Content content)
        {
            return tasks.run(hosts, host -> HostOutcome.done(host, Installation.pushFiles(ssh, host, files.secretFiles(host, content), false)));
        }

        @Override
        public Map<ClusterHost, WorkerSecrets> status(List<ClusterHost> workers, String secret)
        {
            Map<ClusterHost, WorkerSecrets> secrets = new LinkedHashMap<>();
            try (WorkerHosts http = new WorkerHosts(workers.stream().map(ClusterHost::http).toList(), STATUS_TIMEOUT, Optional.of(secret), tls)) {
                List<HostAnswer> answers = http.ask("/v1/status", _ -> {});
                for (int index = 0; index < workers.size(); index++) {
                    secrets.put(workers.get(index), switch (answers.get(index)) {
                        case Answered answered -> new WorkerSecrets(
                                Optional.of(fingerprints(answered.content())),
                                WorkerFields.of(answered.content()).number("former_secret_connections"),
                                false,
                                "");
                        case Failed failed -> new WorkerSecrets(Optional.empty(), OptionalLong.empty(), failed.refused(), failed.problem());
                    });
                }
            }
            return secrets;
        }

        private static List<String> fingerprints(JsonNode status)
        {
            List<String> fingerprints = new ArrayList<>();
            status.path("shared_secrets").forEach(fingerprint -> fingerprints.add(fingerprint.asText()));
            return fingerprints;
        }
    }
}
