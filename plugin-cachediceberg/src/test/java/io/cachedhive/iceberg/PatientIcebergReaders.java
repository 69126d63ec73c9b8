package io.cachedhive.iceberg;

import io.cachedhive.iceberg.connector.CachedIcebergConnectorFactory;
import io.cachedhive.transport.Timeouts;

/**
 * The plugin with readers that wait for a cache worker for a minute, and never ask the origin meanwhile: on a machine that stops for a second, what they read
 * comes from the cache all the same.
 */
final class PatientIcebergReaders
{
    private static final Timeouts TIMEOUTS = new Timeouts(60_000, 60_000, Timeouts.DEFAULT.reconnectMillis(), Timeouts.DEFAULT.probeMillis(), 60_000);

    private PatientIcebergReaders() {}

    static CachedIcebergPlugin plugin()
    {
        return new CachedIcebergPlugin(new CachedIcebergConnectorFactory(TIMEOUTS));
    }
}
