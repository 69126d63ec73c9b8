package io.cachedhive.engine.query;

/**
 * The operations that the connector calls through JMX. Connector and server have no classes in common but those of the JDK and of Trino's SPI.
 */
public interface QueryRecorderMBean
{
    /**
     * Records that a query scans a table of a cachedhive catalog. A query may call this for each of its scans.
     */
    void scanStarted(String queryId);
}
