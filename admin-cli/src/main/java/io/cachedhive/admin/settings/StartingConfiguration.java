package io.cachedhive.admin.settings;

import io.cachedhive.admin.cluster.ClusterFile;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

import static java.util.Objects.requireNonNull;

/**
 * The commented files that a new cluster starts with.
 *
 * @param metastore {@code glue}, or the URI of a Thrift metastore
 * @param region of the object store
 * @param endpoint of the object store, if it is not Amazon's
 */
public record StartingConfiguration(String metastore, Optional<String> region, Optional<String> endpoint)
{
    private static final String GLUE = "glue";

    public StartingConfiguration
    {
        requireNonNull(metastore, "metastore is null");
        requireNonNull(region, "region is null");
        requireNonNull(endpoint, "endpoint is null");
    }

    /**
     * What the hosts file of a new cluster says beside the defaults.
     *
     * @param name of the hosts file without its extension, which the files beside it have too
     * @param ssd sizes by directory
     */
    public record Hosts(
            String name,
            String cluster,
            List<String> coordinators,
            List<String> workers,
            String trinoHome,
            String trinoUrl,
            String ramSize,
            Map<String, String> ssd)
    {
        public Hosts
        {
            coordinators = List.copyOf(coordinators);
            workers = List.copyOf(workers);
        }
    }

    /**
     * Returns the hosts file: the commented example with these values.
     */
    public static String hostsFile(Hosts hosts)
            throws IOException
    {
        String text = ClusterFile.template();
        text = replace(text, "# The hosts that cache-admin looks after. Fill in what is between < and >, and run the command again.", "# The hosts that cache-admin manages.");
        text = replace(text, "cluster: production", "cluster: " + hosts.cluster());
        text = replace(text, "  - <coordinator.example.net>", items(hosts.coordinators()));
        text = replace(text, "  - <worker[1-3].example.net>", items(hosts.workers()));
        text = replace(text, "~/.cache-admin.secret", hosts.name() + ".secret");
        text = replace(text, "~/.cache-admin.d", hosts.name() + ".d");
        text = replace(text, "#trino-url: http://coordinator.example.net:8080", "trino-url: " + hosts.trinoUrl());
        text = replace(text, "trino-home: /usr/lib/trino", "trino-home: " + hosts.trinoHome());
        text = replace(text, "\nram-size: 1GB", "\nram-size: " + hosts.ramSize());
        if (!hosts.ssd().isEmpty()) {
            String directories = hosts.ssd().entrySet().stream()
                    .map(directory -> "  - directory: %s\n    size: %s\n".formatted(directory.getKey(), directory.getValue()))
                    .collect(Collectors.joining());
            text = replace(text, "#ssd:\n#  - directory: /mnt/nvme0/cachedhive\n#    size: 400GB                 # or, for all of them, percentage: 80 (of its disk)\n",
                    "ssd:\n" + directories);
        }
        return text;
    }

    private static String items(List<String> hosts)
    {
        return hosts.stream().map(host -> "  - " + host).collect(Collectors.joining("\n"));
    }

    private static String replace(String text, String example, String value)
    {
        if (!text.contains(example)) {
            throw new IllegalStateException("the example of the hosts file has no '%s'".formatted(example));
        }
        return text.replace(example, value);
    }

    /**
     * Returns the catalog for Trino.
     */
    public String catalog()
    {
        String settings = metastore.equals(GLUE) ? "hive.metastore=glue" : "hive.metastore.uri=" + metastore;
        return """
                # Hive tables that Trino reads through the cache. All properties of Trino's Hive connector are allowed, except
                # fs.cache.enabled. cache-admin adds the shared secret and the ports of the hosts file.
                connector.name=cachedhive

                # the metastore
                %s

                # The object store. origins/default.properties has the same endpoint, region and keys.
                %s%s""".formatted(settings, region.or(() -> endpoint).isEmpty() ? "fs.s3.enabled=true\n" : "", store());
    }

    /**
     * Returns the origin for the cache workers.
     */
    public String origin()
    {
        return """
                # The object store that the cache workers read. The endpoint, the region and the keys are the same as in the catalog.
                %s""".formatted(store());
    }

    private String store()
    {
        return """
                %s
                %s
                # Without keys, the credential chain of the AWS SDK applies: environment, profile, instance.
                #s3.aws-access-key=
                #s3.aws-secret-key=
                """.formatted(
                region.map(value -> "s3.region=" + value).orElse("#s3.region=us-east-1"),
                endpoint.map(value -> "s3.endpoint=%s\ns3.path-style-access=true".formatted(value))
                        .orElse("# for a store that is not Amazon's\n#s3.endpoint=\n#s3.path-style-access=true"));
    }
}
