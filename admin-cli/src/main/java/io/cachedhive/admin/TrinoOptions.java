package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.TlsSettings;
import io.cachedhive.admin.sql.TrinoClient;
import io.cachedhive.admin.sql.TrinoLogin;
import io.cachedhive.admin.task.TaskException;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The options of commands that run SQL.
 */
final class TrinoOptions
{
    @Option(names = "--config", paramLabel = "FILE", description = "hosts file (default: the value of CACHE_ADMIN_CONFIG, or ~/.cache-admin.yaml)")
    private Path config;

    @Option(names = "--trino-url", paramLabel = "URL", description = "the coordinator, such as http://coordinator:8080 (default: trino-url of the hosts file)")
    private String url;

    @Option(names = "--trino-user", paramLabel = "NAME", description = "user that runs the SQL (default: trino-user of the hosts file, else admin)")
    private String user;

    Cluster cluster()
            throws ClusterFileException
    {
        return ClusterOptions.read(config);
    }

    /**
     * Creates a client of the coordinator.
     *
     * @throws ClusterFileException if the coordinator or the login is missing or invalid
     */
    TrinoClient client(Cluster cluster)
            throws ClusterFileException
    {
        String server = url == null ? cluster.trinoUrl().orElse(null) : url;
        if (server == null) {
            throw new ClusterFileException("The coordinator is not known: set trino-url in %s, or give --trino-url.".formatted(cluster.file()));
        }
        return client(server, Optional.ofNullable(user), Optional.of(cluster));
    }

    /**
     * Creates a client of a coordinator, with the login and the TLS settings of the hosts file if there is one.
     *
     * @throws ClusterFileException if the address or the login is invalid
     */
    static TrinoClient client(String server, Optional<String> user, Optional<Cluster> cluster)
            throws ClusterFileException
    {
        TrinoLogin login;
        try {
            login = TrinoLogin.read(
                    user.or(() -> cluster.map(Cluster::trinoUser)).orElse(ClusterFile.DEFAULT_TRINO_USER),
                    cluster.flatMap(Cluster::trinoPasswordFile),
                    cluster.flatMap(Cluster::trinoAccessTokenFile));
        }
        catch (IOException e) {
            throw new ClusterFileException("The login for Trino cannot be read (%s): correct trino-password-file or trino-access-token-file in %s."
                    .formatted(e.getMessage(), cluster.map(Cluster::file).map(Object::toString).orElse("the hosts file")));
        }
        try {
            return new TrinoClient(server, login, cluster.map(Cluster::tls).orElse(TlsSettings.DEFAULT).context());
        }
        catch (TaskException e) {
            throw new ClusterFileException(e.getMessage());
        }
        catch (IllegalArgumentException _) {
            throw new ClusterFileException("%s is not a URL: write trino-url as http://coordinator.example.net:8080.".formatted(server));
        }
    }
}
