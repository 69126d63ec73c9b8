package io.cachedhive.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.doctor.ClusterInspection;
import io.cachedhive.admin.fault.Fault;
import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Answered;
import io.cachedhive.admin.host.HostAnswer.Failed;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.install.HostScripts;
import io.cachedhive.admin.install.Installation;
import io.cachedhive.admin.settings.HostFile;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.settings.Secrets;
import io.cachedhive.admin.ssh.Ssh;
import io.cachedhive.admin.task.HostOutcome;
import io.cachedhive.admin.task.TaskException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * What somebody needs who is to help.
 */
@Command(
        name = "support-bundle",
        sortOptions = false,
        description = {
                "Collects the information that support needs: the doctor's findings, facts about the hosts, configuration, status, counters, and recent log lines.",
                "Secrets are left out: values of properties by whose name they are some, and these values wherever else they stand. Names of hosts, tables and files are in it."})
final class SupportBundleCommand
        implements Callable<Integer>
{
    private static final Pattern DIGEST = Pattern.compile(".*=[0-9a-f]{64}");

    @Option(names = "--to", required = true, paramLabel = "FILE", description = "zip file to write; it must not exist")
    private Path file;

    @Option(names = "--lines", paramLabel = "N", defaultValue = "5000", description = "number of lines of each log (default: ${DEFAULT-VALUE})")
    private int lines;

    @Mixin
    private ClusterOptions options;

    private final Console console;

    SupportBundleCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        if (Files.exists(file)) {
            throw new ClusterFileException("%s exists: name a file that does not with --to.".formatted(file));
        }
        Cluster cluster = options.cluster();
        List<ClusterHost> hosts = options.select(cluster);
        HostFiles files = HostFiles.read(cluster);
        Ssh ssh = options.ssh(cluster);
        Map<String, String> entries = new ConcurrentSkipListMap<>();

        List<Fault> faults = new ClusterInspection(ssh, options.tasks(cluster, console), files).diagnose(cluster, hosts);
        entries.put("doctor.txt", faults.isEmpty() ? "No problems found.\n"
                : faults.stream().map(fault -> fault.kind() + ": " + fault.sentence() + "\n").collect(Collectors.joining()));
        List<HostOutcome> outcomes = options.tasks(cluster, console).run(hosts, host -> {
            collect(ssh, host, files, entries);
            return HostOutcome.done(host, List.of("collected"));
        });
        ask(cluster, hosts, files, entries);
        try {
            entries.put("hosts.yaml", Files.readString(cluster.file()));
            write(entries, secrets(hosts, files, entries));
        }
        catch (IOException e) {
            throw new ClusterFileException("%s cannot be written (%s): name another place with --to.".formatted(file, e.getClass().getSimpleName()));
        }
        int code = options.report(outcomes, "COLLECTED", "EMPTY", console);
        console.line("Wrote %s.".formatted(file));
        return code;
    }

    private void collect(Ssh ssh, ClusterHost host, HostFiles files, Map<String, String> entries)
            throws TaskException
    {
        String directory = host.name().replace(':', '_') + "/";
        List<HostFile> wanted = Installation.wanted(files, host);
        String facts = ssh.run(host, HostScripts.facts(host, Optional.of("@current"), wanted, List.of())).output();
        entries.put(directory + "facts.txt", withoutDigests(facts, wanted));
        List<String> paths = wanted.stream().filter(file -> !file.secret()).map(HostFile::path).toList();
        Installation.fetch(ssh, host, paths).forEach((path, content) -> entries.put(directory + "files" + path, content));
        if (host.trinoHome().isPresent()) {
            Installation.fetch(ssh, host, List.of(host.trinoEtc() + "/config.properties", host.trinoEtc() + "/jvm.config", host.trinoEtc() + "/node.properties"))
                    .forEach((path, content) -> entries.put(directory + "files" + path, content));
        }
        if (host.isWorker()) {
            for (String log : List.of("server", "launcher")) {
                try {
                    entries.put(directory + log + ".log", String.join("\n", Installation.log(ssh, host, log, Math.max(1, lines))) + "\n");
                }
                catch (TaskException e) {
                    // there may be none: that is a finding, too
                    entries.put(directory + log + ".log", e.getMessage() + "\n");
                }
            }
        }
    }

    /// A weak secret could be guessed from its digest, and from that of a file whose other lines are known. Whether files are as they should be stays.
    static String withoutDigests(String facts, List<HostFile> wanted)
    {
        StringBuilder text = new StringBuilder();
        for (String line : facts.lines().toList()) {
            if (!DIGEST.matcher(line).matches()) {
                text.append(line).append('\n');
                continue;
            }
            wanted.stream()
                    .filter(file -> line.startsWith("file:" + file.path() + "="))
                    .findFirst()
                    .ifPresent(file -> text.append("file:%s=%s\n".formatted(file.path(), line.endsWith("=" + file.digest()) ? "as configured" : "differs")));
        }
        return text.toString();
    }

    private static void ask(Cluster cluster, List<ClusterHost> hosts, HostFiles files, Map<String, String> entries)
            throws ClusterFileException
    {
        List<ClusterHost> workers = hosts.stream().filter(ClusterHost::isWorker).toList();
        try (WorkerHosts http = new WorkerHosts(workers.stream().map(ClusterHost::http).toList(), Duration.ofSeconds(10), files.secret(), cluster.tls().context())) {
            for (String path : List.of("status", "stats", "drain")) {
                List<HostAnswer> answers = http.ask("/v1/" + path, _ -> {});
                for (int index = 0; index < workers.size(); index++) {
                    String name = workers.get(index).name().replace(':', '_') + "/" + path;
                    switch (answers.get(index)) {
                        case Answered answered -> {
                            // digests of secrets
                            ((ObjectNode) answered.content()).remove("shared_secrets");
                            entries.put(name + ".json", answered.content().toPrettyString() + "\n");
                        }
                        case Failed failed -> entries.put(name + ".txt", failed.problem() + "\n");
                    }
                }
            }
        }
    }

    private static Secrets secrets(List<ClusterHost> hosts, HostFiles files, Map<String, String> entries)
    {
        Secrets secrets = new Secrets();
        files.secrets().forEach(secrets::add);
        files.catalogs().values().forEach(secrets::addFrom);
        files.origins().values().forEach(secrets::addFrom);
        // in the hosts file they need not stand on a line of their own
        hosts.forEach(host -> host.workerProperties().forEach((name, value) -> secrets.addFrom(name + "=" + value)));
        entries.forEach((name, content) -> {
            if (name.endsWith(".properties")) {
                secrets.addFrom(content);
            }
        });
        return secrets;
    }

    private void write(Map<String, String> entries, Secrets secrets)
            throws IOException
    {
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file))) {
            for (Map.Entry<String, String> entry : entries.entrySet()) {
                zip.putNextEntry(new ZipEntry(entry.getKey()));
                zip.write(secrets.mask(entry.getValue()).getBytes(UTF_8));
                zip.closeEntry();
            }
        }
    }
}
