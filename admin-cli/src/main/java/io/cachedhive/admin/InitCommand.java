package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.settings.StartingConfiguration;
import io.cachedhive.admin.settings.StartingConfiguration.Hosts;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * Writes the files that a new cluster starts with.
 */
@Command(
        name = "init",
        sortOptions = false,
        description = {
                "Writes a hosts file, a catalog and an origin with comments for a new cluster, and overwrites nothing.",
                "Credentials are not options: without them, the credential chain of the AWS SDK applies; add keys to the catalog and the origin."})
final class InitCommand
        implements Callable<Integer>
{
    // neither YAML nor properties files take these characters for something else
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9/_][A-Za-z0-9/_.:,\\[\\]-]*");

    @Option(names = "--config", paramLabel = "FILE", description = "hosts file to write (default: the value of CACHE_ADMIN_CONFIG, or ~/.cache-admin.yaml)")
    private Path config;

    @Option(names = "--cluster", paramLabel = "NAME", defaultValue = "production", description = "name of the cluster (default: ${DEFAULT-VALUE})")
    private String cluster;

    @Option(names = "--coordinators", required = true, split = ",", paramLabel = "HOST", description = "hosts of the coordinator, as ssh knows them")
    private List<String> coordinators;

    @Option(names = "--workers", required = true, split = ",", paramLabel = "HOST", description = "hosts of the Trino workers; worker[1-20] means twenty hosts")
    private List<String> workers;

    @Option(names = "--trino-home", paramLabel = "DIRECTORY", defaultValue = "/usr/lib/trino", description = "Trino on the hosts (default: ${DEFAULT-VALUE})")
    private String trinoHome;

    @Option(names = "--trino-url", paramLabel = "URL", description = "the coordinator (default: port 8080 of the first one of --coordinators)")
    private String trinoUrl;

    @Option(names = "--ram-size", paramLabel = "SIZE", defaultValue = "1GB", description = "shared memory of each cache worker (default: ${DEFAULT-VALUE})")
    private String ramSize;

    @Option(
            names = "--ssd",
            paramLabel = "DIRECTORY=SIZE",
            description = "directory of the SSD tier on each host, such as /mnt/nvme0/cachedhive=400GB; can be repeated (default: none)")
    private Map<String, String> ssd = new LinkedHashMap<>();

    @Option(names = "--catalog", paramLabel = "NAME", defaultValue = "lake", description = "name of the catalog (default: ${DEFAULT-VALUE})")
    private String catalog;

    @Option(names = "--metastore", required = true, paramLabel = "URI", description = "the metastore, such as thrift://metastore:9083, or glue")
    private String metastore;

    @Option(names = "--region", paramLabel = "NAME", description = "region of the object store (default: from the environment of the processes)")
    private String region;

    @Option(names = "--endpoint", paramLabel = "URL", description = "endpoint of an object store that is not Amazon's")
    private String endpoint;

    @Mixin
    private DryRunOption dryRun;

    private final Console console;

    InitCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        Path file = ClusterOptions.locate(config);
        String fileName = file.getFileName().toString();
        String name = fileName.endsWith(".yaml") ? fileName.substring(0, fileName.length() - ".yaml".length()) : fileName;
        String url = trinoUrl == null ? "http://%s:8080".formatted(coordinators.getFirst()) : trinoUrl;
        check("the name of the hosts file", name);
        check("--cluster", cluster);
        coordinators.forEach(host -> check("--coordinators", host));
        workers.forEach(host -> check("--workers", host));
        check("--trino-home", trinoHome);
        check("--trino-url", url);
        check("--ram-size", ramSize);
        ssd.forEach((directory, size) -> {
            check("--ssd", directory);
            check("--ssd", size);
        });
        check("--catalog", catalog);
        if (catalog.contains("/")) {
            throw new WrongUsageException("--catalog is %s: use a name without slashes.".formatted(catalog));
        }
        check("--metastore", metastore);
        Optional.ofNullable(region).ifPresent(value -> check("--region", value));
        Optional.ofNullable(endpoint).ifPresent(value -> check("--endpoint", value));

        Map<Path, String> files = new LinkedHashMap<>();
        StartingConfiguration configuration = new StartingConfiguration(metastore, Optional.ofNullable(region), Optional.ofNullable(endpoint));
        Path directory = file.resolveSibling(name + ".d");
        try {
            files.put(file, StartingConfiguration.hostsFile(new Hosts(name, cluster, coordinators, workers, trinoHome, url, ramSize, ssd)));
        }
        catch (IOException e) {
            throw new ClusterFileException("The example of the hosts file cannot be read (%s): unpack the package again.".formatted(e.getMessage()));
        }
        // before anything is written
        ClusterFile.check(files.get(file), file);
        files.put(directory.resolve("catalog").resolve(catalog + ".properties"), configuration.catalog());
        files.put(directory.resolve("origins").resolve("default.properties"), configuration.origin());
        List<String> existing = new ArrayList<>();
        files.keySet().stream().filter(Files::exists).forEach(path -> existing.add(path.toString()));
        if (!existing.isEmpty()) {
            throw new ClusterFileException("%s exists, and init overwrites nothing: move it away, or name another hosts file with --config."
                    .formatted(String.join(" and ", existing)));
        }
        for (Map.Entry<Path, String> entry : files.entrySet()) {
            if (!dryRun.isSet()) {
                write(entry.getKey(), entry.getValue());
            }
            console.line((dryRun.isSet() ? "would write " : "wrote ") + entry.getKey());
        }
        console.line("Next: cache-admin config check, then cache-admin install --dry-run --package cachedhive-VERSION.tar.gz");
        return ExitCode.OK;
    }

    private static void check(String option, String value)
    {
        // a hosts file may be hidden
        if (!PLAIN.matcher(value.startsWith(".") ? value.substring(1) : value).matches()) {
            throw new WrongUsageException("%s is %s: use letters, digits, and / _ . : - [ ] only.".formatted(option, value));
        }
    }

    private static void write(Path path, String content)
            throws ClusterFileException
    {
        try {
            Files.createDirectories(path.getParent());
            // keys will be added to it
            Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(path, content);
        }
        catch (IOException e) {
            throw new ClusterFileException("%s cannot be written (%s): name another hosts file with --config.".formatted(path, e.getClass().getSimpleName()));
        }
    }
}
