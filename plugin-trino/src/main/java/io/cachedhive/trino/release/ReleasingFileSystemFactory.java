package io.cachedhive.trino.release;

import io.cachedhive.plugin.release.FileReleases;
import io.trino.filesystem.TrinoFileSystem;
import io.trino.filesystem.TrinoFileSystemFactory;
import io.trino.spi.security.ConnectorIdentity;

import static java.util.Objects.requireNonNull;

/**
 * File systems for statements, which notify the cache workers of the files that the statements remove.
 */
public final class ReleasingFileSystemFactory
        implements TrinoFileSystemFactory
{
    private final TrinoFileSystemFactory delegate;
    private final FileReleases releases;

    public ReleasingFileSystemFactory(TrinoFileSystemFactory delegate, FileReleases releases)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.releases = requireNonNull(releases, "releases is null");
    }

    @Override
    public TrinoFileSystem create(ConnectorIdentity identity)
    {
        return new ReleasingFileSystem(delegate.create(identity), releases);
    }
}
