package io.cachedhive.tests.containers;

import java.util.List;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * A host whose directory of Trino's configuration belongs to the user {@code mallory}, who laid links at the names that the installation writes: to files of
 * the operator, outside of this directory. Root laid the hard links, as on a host without {@code fs.protected_hardlinks}.
 */
final class LaidLinks
{
    private static final String ETC = HostCluster.TRINO_HOME + "/etc";
    private static final String CATALOG = ETC + "/catalog/cachedhive.properties";
    private static final String SECRET = ETC + "/cachedhive-shared-secret";
    private static final String PLUGIN = HostCluster.TRINO_HOME + "/plugin/cachedhive";
    private static final String EXTENSION = HostCluster.TRINO_HOME + "/lib/cachedhive-engine-extension.jar";
    // names of temporary files that can be guessed
    private static final List<String> TEMPORARY = List.of(CATALOG + ".cache-admin", SECRET + ".cache-admin", CATALOG + ".cache-admin.0000000000", PLUGIN + ".cache-admin");

    /**
     * Everything of Trino's that an installation replaces, by its path.
     */
    static final Set<String> REPLACED = Set.of(
            CATALOG, SECRET, PLUGIN, EXTENSION, HostCluster.TRINO_HOME + "/bin/launcher.properties", TEMPORARY.get(2), TEMPORARY.get(3));
    /**
     * The hard link, which is a file of its own afterwards, and temporary files of the names that the installation uses itself.
     */
    static final Set<String> NOT_RESTORED = Set.of(CATALOG, TEMPORARY.get(2), TEMPORARY.get(3));

    private final ContainerHost host;

    private LaidLinks(ContainerHost host)
    {
        this.host = requireNonNull(host, "host is null");
    }

    /**
     * Lays the links, and one in place of the directory of the catalogs.
     */
    static LaidLinks lay(ContainerHost host)
    {
        host.mustRun(ContainerHost.steps(List.of(
                "useradd --system --shell /bin/bash mallory",
                "mkdir -p /srv/operator/catalog /srv/operator/plugin",
                "for name in secret catalog/cachedhive.properties plugin/old.jar; do echo \"of the operator: $name\" > /srv/operator/$name; done",
                "echo connector.name=cachedhive > /srv/operator/readable",
                "chmod 600 /srv/operator/secret",
                // one user besides root in each path
                "chown root:root " + HostCluster.TRINO_HOME,
                "ln /srv/operator/readable " + CATALOG,
                "ln -s /srv/operator/secret " + SECRET,
                "ln -s /srv/operator/plugin " + PLUGIN,
                "ln -s /srv/operator/missing.jar " + EXTENSION,
                "for link in %s; do ln -s /srv/operator/secret $link; done".formatted(String.join(" ", TEMPORARY)),
                // the hard link stays root's
                "find %s ! -path %s -exec chown -h mallory:mallory {} +".formatted(ETC, CATALOG),
                "chown -h trino:trino %1$s %2$s %2$s.cache-admin".formatted(EXTENSION, PLUGIN),
                "runuser -u mallory -- mv %1$s/catalog %1$s/catalogs".formatted(ETC),
                "runuser -u mallory -- ln -s /srv/operator/catalog %s/catalog".formatted(ETC))));
        return new LaidLinks(host);
    }

    /**
     * Replaces the link in place of the directory of the catalogs by the directory, with the links in it.
     */
    void giveDirectoryBack()
    {
        host.mustRun("runuser -u mallory -- bash -c 'rm %1$s/catalog && mv %1$s/catalogs %1$s/catalog'".formatted(ETC));
    }

    /**
     * Lays links in place of the files that the installation wrote.
     */
    void layAgain()
    {
        host.mustRun("for file in %s %s; do runuser -u mallory -- ln -sf /srv/operator/secret $file; done".formatted(CATALOG, SECRET));
    }
}
