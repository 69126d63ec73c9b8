package io.cachedhive.hive.connector;

import io.trino.spi.connector.Connector;
import io.trino.testing.TestingConnectorContext;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The smallest catalog file: connector.name, which Trino reads, the metastore, and the object store.
 */
class TestMinimalCatalog
{
    private static final Map<String, String> MINIMAL = Map.of(
            "hive.metastore.uri", "thrift://127.0.0.1:9083",
            "s3.region", "us-east-1");

    @Test
    void testLoads()
    {
        Connector connector = create(MINIMAL);
        assertThat(connector.getSystemTables()).isNotEmpty();
        connector.shutdown();
    }

    /**
     * A catalog that switches S3 off has settings that nothing reads, and Trino says so.
     */
    @Test
    void testSwitchIsRespected()
    {
        Map<String, String> off = new HashMap<>(MINIMAL);
        off.put("fs.s3.enabled", "false");
        assertThatThrownBy(() -> create(off))
                .hasMessageContaining("s3.region");
    }

    private static Connector create(Map<String, String> properties)
    {
        return new CachedHiveConnectorFactory().create("minimal", properties, new TestingConnectorContext());
    }
}
