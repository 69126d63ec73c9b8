package io.cachedhive.trino.adapter;

import io.trino.filesystem.TrinoFileSystem;
import io.trino.spi.connector.ConnectorTableCredentials;
import io.trino.spi.security.ConnectorIdentity;

import java.util.Optional;

/**
 * Opens the file system that the connector reads a table with.
 */
public interface ScanFileSystems
{
    /**
     * @param credentials those that the engine passed with the split
     */
    TrinoFileSystem create(ConnectorIdentity identity, Optional<ConnectorTableCredentials> credentials);
}
