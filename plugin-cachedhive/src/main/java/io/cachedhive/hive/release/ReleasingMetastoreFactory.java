package io.cachedhive.hive.release;

import io.cachedhive.plugin.release.DropFlushes;
import io.cachedhive.plugin.release.FileReleases;
import io.trino.metastore.HiveMetastore;
import io.trino.metastore.HiveMetastoreFactory;
import io.trino.spi.security.ConnectorIdentity;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Creates a {@link ReleasingMetastore} for each transaction.
 */
final class ReleasingMetastoreFactory
        implements HiveMetastoreFactory
{
    private final HiveMetastoreFactory delegate;
    private final FileReleases releases;
    private final DropFlushes flushes;

    ReleasingMetastoreFactory(HiveMetastoreFactory delegate, FileReleases releases, DropFlushes flushes)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.releases = requireNonNull(releases, "releases is null");
        this.flushes = requireNonNull(flushes, "flushes is null");
    }

    @Override
    public boolean hasBuiltInCaching()
    {
        return delegate.hasBuiltInCaching();
    }

    @Override
    public boolean isImpersonationEnabled()
    {
        return delegate.isImpersonationEnabled();
    }

    @Override
    public HiveMetastore createMetastore(Optional<ConnectorIdentity> identity)
    {
        return ReleasingMetastore.of(delegate.createMetastore(identity), releases, flushes);
    }
}
