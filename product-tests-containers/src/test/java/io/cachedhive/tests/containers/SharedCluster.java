package io.cachedhive.tests.containers;

/**
 * The cluster with cachedhive installed and running that tests share which leave it as they found it. It starts with the first test that asks for it.
 */
final class SharedCluster
{
    private static InstalledCluster cluster;

    private SharedCluster() {}

    static synchronized InstalledCluster get()
            throws Exception
    {
        if (cluster == null) {
            cluster = InstalledCluster.start("shared");
        }
        return cluster;
    }

    static synchronized void close()
    {
        if (cluster != null) {
            cluster.close();
            cluster = null;
        }
    }
}
