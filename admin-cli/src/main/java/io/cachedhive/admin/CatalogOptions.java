package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.settings.PropertiesText;
import io.cachedhive.admin.sql.TrinoClient;
import io.cachedhive.admin.sql.TrinoLogin;
import io.cachedhive.admin.task.TaskException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * What commands have in common that run SQL on catalogs.
 */
final class CatalogOptions
{
    @Option(names = "--config", paramLabel = "FILE", description = "hosts file (default: the value of CACHE_ADMIN_CONFIG, or ~/.cache-admin.yaml)")
    private Path config;

    @Option(names = "--catalog", split = ",", paramLabel = "NAME", description = "catalogs of Trino (default: all cachedhive catalogs of the configuration directory)")
    private List<String> catalogs = List.of();

    @Option(names = "--trino-url", paramLabel = "URL", description = "the coordinator, such as http://coordinator:8080 (default: trino-url of the hosts file)")
    private String url;

    @Option(names = "--trino-user", paramLabel = "NAME", description = "who runs it (default: trino-user of the hosts file, else admin)")
    private String user;

    @Mixin
    private DryRunOption dryRun;

    /// Runs a statement for each catalog.
    ///
    /// @param statement of a catalog, whose name is given as SQL writes it
    /// @return the exit code
    int run(Function<String, String> statement, Console console)
            throws ClusterFileException
    {
        Cluster cluster = ClusterOptions.read(config);
        List<String> names = catalogs;
        if (names.isEmpty()) {
            names = HostFiles.read(cluster).catalogs().entrySet().stream()
                    .filter(catalog -> "cachedhive".equals(PropertiesText.read(catalog.getValue()).get("connector.name")))
                    .map(Map.Entry::getKey)
                    .toList();
        }
        if (names.isEmpty()) {
            throw new ClusterFileException("There is no cachedhive catalog in %s: name one with --catalog.".formatted(cluster.configurationDirectory().resolve("catalog")));
        }
        String server = url == null ? cluster.trinoUrl().orElse(null) : url;
        if (server == null) {
            throw new ClusterFileException("The coordinator is not known: set trino-url in %s, or give --trino-url.".formatted(cluster.file()));
        }
        TrinoLogin login;
        try {
            login = TrinoLogin.read(user == null ? cluster.trinoUser() : user, cluster.trinoPasswordFile(), cluster.trinoAccessTokenFile());
        }
        catch (IOException e) {
            throw new ClusterFileException("The login for Trino cannot be read (%s): correct trino-password-file or trino-access-token-file in %s."
                    .formatted(e.getMessage(), cluster.file()));
        }
        int code = ExitCode.OK;
        try (TrinoClient client = new TrinoClient(server, login, cluster.tls().context())) {
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
        catch (TaskException e) {
            throw new ClusterFileException(e.getMessage());
        }
        catch (IllegalArgumentException _) {
            throw new ClusterFileException("%s is not a URL: write trino-url as http://coordinator.example.net:8080.".formatted(server));
        }
        console.out().flush();
        return code;
    }
}
