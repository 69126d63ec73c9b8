package io.cachedhive.trino.query;

import com.google.inject.Inject;
import io.airlift.log.Logger;
import io.trino.spi.Node;

import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import java.lang.management.ManagementFactory;

import static java.util.Objects.requireNonNull;

/**
 * Reports the queries that scan the catalog to the server extension, which records them for {@code system.cache.queries}. Does nothing in a server without the extension.
 *
 * <p>The report goes through JMX, because plugins and the server have no classes of this project in common.
 */
public final class ScanReporter
{
    private static final Logger log = Logger.get(ScanReporter.class);

    private static final String OPERATION = "scanStarted";
    private static final String[] SIGNATURE = {String.class.getName()};

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final ObjectName recorder;

    @Inject
    ScanReporter(Node node)
    {
        this(node.getNodeIdentifier());
    }

    public ScanReporter(String nodeId)
    {
        requireNonNull(nodeId, "nodeId is null");
        try {
            this.recorder = new ObjectName("cachedhive:name=queries,node=" + ObjectName.quote(nodeId));
        }
        catch (JMException e) {
            throw new IllegalArgumentException("invalid node id: " + nodeId, e);
        }
    }

    /**
     * Reports that a query starts a scan. Never fails.
     */
    public void scanStarted(String queryId)
    {
        if (!server.isRegistered(recorder)) {
            return;
        }
        try {
            server.invoke(recorder, OPERATION, new Object[] {queryId}, SIGNATURE);
        }
        catch (InstanceNotFoundException _) {
            // the server is stopping
        }
        catch (JMException | RuntimeException e) {
            log.debug(e, "Query %s is not recorded", queryId);
        }
    }
}
