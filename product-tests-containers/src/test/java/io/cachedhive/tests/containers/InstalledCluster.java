package io.cachedhive.tests.containers;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static java.util.Objects.requireNonNull;

/**
 * A cluster of hosts on which cachedhive was installed as an operator does it, with everything running.
 */
final class InstalledCluster
        implements AutoCloseable
{
    private final HostCluster hosts;
    private final Administrator administrator;

    private InstalledCluster(HostCluster hosts, Administrator administrator)
    {
        this.hosts = requireNonNull(hosts, "hosts is null");
        this.administrator = requireNonNull(administrator, "administrator is null");
    }

    static InstalledCluster start(String name)
            throws Exception
    {
        HostCluster hosts = HostCluster.start(name, 3, Map.of());
        try {
            hosts.launchStorage();
            Administrator administrator = Administrator.of(hosts);
            Administrator.check(administrator.install());
            administrator.switchToHttps(hosts);
            Administrator.check(administrator.start());
            hosts.say("cache-admin has installed and started everything");
            hosts.awaitStorage();
            hosts.startTrino();
            InstalledCluster cluster = new InstalledCluster(hosts, administrator);
            cluster.awaitCacheWorkers();
            return cluster;
        }
        catch (Exception | Error e) {
            hosts.close();
            throw e;
        }
    }

    HostCluster hosts()
    {
        return hosts;
    }

    Administrator administrator()
    {
        return administrator;
    }

    /**
     * Returns when the coordinator hears of all cache workers.
     */
    void awaitCacheWorkers()
            throws Exception
    {
        Await.until("the coordinator hears of all cache workers", Patience.LIMIT, QUERY_PAUSE, () -> runningCacheWorkers() == hosts.workers().size());
    }

    SqlConnection connect(String catalog, String schema)
            throws SQLException
    {
        return hosts.connect(catalog, schema);
    }

    int runningCacheWorkers()
            throws SQLException
    {
        try (SqlConnection connection = connect("cachedhive", "cache")) {
            return connection.query("SELECT node_id FROM cachedhive.cache.stats WHERE state = 'RUNNING'").rows().size();
        }
    }

    /**
     * Runs a statement in a session of its own.
     */
    List<List<Object>> rows(String sql)
            throws SQLException
    {
        try (SqlConnection connection = connect("cachedhive", "default")) {
            return connection.query(sql).rows();
        }
    }

    @Override
    public void close()
    {
        hosts.close();
    }
}
