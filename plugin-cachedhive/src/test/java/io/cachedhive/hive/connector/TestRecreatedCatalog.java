package io.cachedhive.hive.connector;

import io.trino.spi.connector.Connector;
import io.trino.testing.TestingConnectorContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectInstance;
import javax.management.ObjectName;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * CREATE CATALOG creates a catalog while an earlier one of the same name is not shut down yet: DROP CATALOG does that seconds later.
 */
class TestRecreatedCatalog
{
    private static final String CATALOG = "recreated";

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();

    @TempDir
    private Path directory;

    private Connector create()
    {
        return new CachedHiveConnectorFactory().create(
                CATALOG,
                Map.of(
                        "hive.metastore", "file",
                        "hive.metastore.catalog.dir", "local:///warehouse",
                        "fs.local.enabled", "true",
                        "local.location", directory.toString(),
                        "cachedhive.worker.socket-path", directory.resolve("nobody.sock").toString()),
                new TestingConnectorContext());
    }

    private Set<String> beans()
            throws MalformedObjectNameException
    {
        return server.queryNames(null, null).stream().map(ObjectName::toString).filter(name -> name.contains(CATALOG)).collect(toSet());
    }

    @Test
    void keepsAllBeansWhenTheEarlierOneEnds()
            throws Exception
    {
        Connector earlier = create();
        Set<String> names = beans();
        // of this plugin, of Hive and of its file systems
        assertThat(names).anyMatch(name -> name.startsWith("cachedhive:")).anyMatch(name -> name.startsWith("trino.plugin.hive"));
        Connector later = create();
        assertThat(beans()).isEqualTo(names);
        earlier.shutdown();
        assertThat(beans()).isEqualTo(names);
        for (ObjectInstance bean : server.queryMBeans(new ObjectName("cachedhive:name=%s,*".formatted(CATALOG)), null)) {
            assertThat(server.getAttribute(bean.getObjectName(), "Requests")).isEqualTo(0L);
        }
        later.shutdown();
        assertThat(beans()).isEmpty();
    }

    @Test
    void keepsAllBeansWhenTheLaterOneEnds()
            throws Exception
    {
        Connector earlier = create();
        Set<String> names = beans();
        Connector later = create();
        later.shutdown();
        assertThat(beans()).isEqualTo(names);
        earlier.shutdown();
        assertThat(beans()).isEmpty();
    }
}
