package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.settings.CacheConnectors;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.settings.PropertiesText;
import io.cachedhive.admin.sql.TrinoClient;
import io.cachedhive.admin.task.TaskException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The options of commands that run a statement on catalogs.
 */
final class CatalogOptions
{
    @Option(names = "--catalog", split = ",", paramLabel = "NAME", description = "catalogs of Trino (default: all cachedhive catalogs of the configuration directory)")
    private List<String> catalogs = List.of();

    @Mixin
    private TrinoOptions trino;

    @Mixin
    private DryRunOption dryRun;

    /// Runs a statement for each catalog.
    ///
    /// @param statement of a catalog, whose name is given as SQL writes it
    /// @return the exit code
    int run(Function<String, String> statement, Console console)
            throws ClusterFileException
    {
        Cluster cluster = trino.cluster();
        List<String> names = catalogs;
        if (names.isEmpty()) {
            names = HostFiles.read(cluster).catalogs().entrySet().stream()
                    .filter(catalog -> CacheConnectors.isCached(PropertiesText.read(catalog.getValue())))
                    .map(Map.Entry::getKey)
                    .toList();
        }
        if (names.isEmpty()) {
            throw new ClusterFileException("There is no cachedhive catalog in %s: name one with --catalog.".formatted(cluster.configurationDirectory().resolve("catalog")));
        }
        int code = ExitCode.OK;
        try (TrinoClient client = trino.client(cluster)) {
            for (String name : names) {
                String sql = statement.apply(TrinoClient.identifier(name));
                if (dryRun.isSet()) {
                    console.out().println(sql);
                    continue;
                }
                try {
                    String query = client.execute(sql);
                    console.out().println("%s: done (query %s)".formatted(name, query));
                }
                catch (TaskException e) {
                    console.problem("%s: %s".formatted(name, e.getMessage()));
                    code = ExitCode.HOST_FAILED;
                }
            }
        }
        console.out().flush();
        return code;
    }
}
