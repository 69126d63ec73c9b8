package io.cachedhive.tests.containers;

import io.cachedhive.quickstart.home.Distribution;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Copies the built parts into place and starts them: what {@code cache-admin install} and {@code start} are to do.
 */
final class CopiedParts
{
    private static final String SECRET = "a-secret-of-the-container-hosts";

    private CopiedParts() {}

    static void install(HostCluster hosts)
    {
        Map<String, String> catalog = new LinkedHashMap<>(HostCluster.hiveProperties());
        catalog.put("connector.name", "cachedhive");
        catalog.put("cachedhive.shared-secret", SECRET);
        for (ContainerHost host : hosts.trinoHosts()) {
            host.mustRun("cp -r %s %s/plugin/cachedhive".formatted(Distribution.find().cachedHivePlugin(), HostCluster.TRINO_HOME));
            host.mustRun("ln -s %s/engine-extension-*.jar %s/lib/".formatted(Distribution.find().trinoServerLibrary(), HostCluster.TRINO_HOME));
            host.mustRun("sed -i s/^main-class=.*/main-class=io.cachedhive.engine.CachedTrinoServer/ %s/bin/launcher.properties".formatted(HostCluster.TRINO_HOME));
            host.write(HostCluster.TRINO_HOME + "/etc/catalog/cachedhive.properties", HostCluster.text(catalog));
        }
        for (ContainerHost host : hosts.workers()) {
            host.mustRun(ContainerHost.steps(List.of(
                    "cp -r /mnt/cache-worker /opt/cachedhive",
                    "mkdir -p /var/lib/cachedhive /run/cachedhive")));
            host.write("/opt/cachedhive/etc/config.properties", """
                    cache.worker.port=8484
                    cache.worker.socket-path=/run/cachedhive/worker.sock
                    http-server.http.port=8485
                    cache.ram.max-size=128MB
                    cache.ssd.directories=/var/lib/cachedhive
                    cache.ssd.max-sizes=1GB
                    internal-communication.shared-secret=%s
                    """.formatted(SECRET));
            host.write("/opt/cachedhive/etc/node.properties", """
                    node.environment=production
                    node.internal-address=%1$s
                    node.bind-ip=%1$s
                    """.formatted(host.address()));
            host.write("/opt/cachedhive/etc/origins/default.properties", HostCluster.text(HostCluster.s3Properties()));
            host.mustRun("chown -R %1$s:%1$s /opt/cachedhive /var/lib/cachedhive /run/cachedhive".formatted(HostCluster.TRINO_USER));
            host.mustRun("runuser -u %s -- /opt/cachedhive/bin/launcher -jvm-dir %s start".formatted(HostCluster.TRINO_USER, HostCluster.JAVA_HOME));
        }
    }
}
