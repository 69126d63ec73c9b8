package io.cachedhive.hive;

import io.cachedhive.hive.connector.CachedHiveConnectorFactory;
import io.cachedhive.transport.Timeouts;
import io.trino.metastore.HiveMetastore;

import java.util.Optional;

/**
 * The plugin with readers that wait for a cache worker for a minute, and never ask the origin meanwhile: on a machine that stops for a second, what they read
 * comes from the cache all the same.
 */
public final class PatientReaders
{
    private static final Timeouts TIMEOUTS = new Timeouts(60_000, 60_000, Timeouts.DEFAULT.reconnectMillis(), Timeouts.DEFAULT.probeMillis(), 60_000);

    private PatientReaders() {}

    public static CachedHivePlugin plugin()
    {
        return plugin(Optional.empty());
    }

    static CachedHivePlugin plugin(Optional<HiveMetastore> metastore)
    {
        return new CachedHivePlugin(new CachedHiveConnectorFactory(metastore, TIMEOUTS));
    }
}
