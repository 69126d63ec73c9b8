package io.cachedhive.iceberg;

import io.cachedhive.iceberg.connector.CachedIcebergConnectorFactory;
import io.cachedhive.iceberg.connector.IcebergAdapter;
import io.trino.plugin.iceberg.IcebergPartitionFunction;
import io.trino.plugin.iceberg.IcebergPartitionFunction.Transform;
import io.trino.plugin.iceberg.IcebergPartitioningHandle;
import io.trino.spi.connector.ConnectorFactory;
import io.trino.spi.type.Type;
import io.trino.testing.TestingConnectorContext;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;

import static com.google.common.collect.Iterables.getOnlyElement;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static io.trino.type.InternalTypeManager.TESTING_TYPE_MANAGER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestCachedIcebergConnectorFactory
{
    private static final long HINT = 2159953246983244619L;

    @Test
    void testPluginHasTheConnectorAndNoFunctions()
    {
        // Trino's own Iceberg plugin brings them, and the engine accepts each once
        assertThat(new CachedIcebergPlugin().getFunctions()).isEmpty();
        assertThat(getOnlyElement(new CachedIcebergPlugin().getConnectorFactories()).getName()).isEqualTo("cachediceberg");
    }

    @Test
    void testFileSystemCacheIsRefused()
    {
        ConnectorFactory factory = new CachedIcebergConnectorFactory();
        assertThatThrownBy(() -> factory.create("lake", Map.of("fs.cache.enabled", "true"), new TestingConnectorContext()))
                .hasMessageContaining("Catalog lake has fs.cache.enabled=true");
    }

    /**
     * The connector's own hint differs in each process.
     */
    @Test
    void testBucketHint()
    {
        OptionalLong hint = hint(Transform.BUCKET, BIGINT, 8);
        assertThat(hint).hasValue(HINT);
        assertThat(hint(Transform.BUCKET, BIGINT, 8)).isEqualTo(hint);
        assertThat(hint(Transform.BUCKET, BIGINT, 16)).isNotEqualTo(hint);
        assertThat(hint(Transform.TRUNCATE, BIGINT, 8)).isNotEqualTo(hint);
        assertThat(hint(Transform.BUCKET, VARCHAR, 8)).isNotEqualTo(hint);
        IcebergPartitioningHandle handle = handle(Transform.BUCKET, BIGINT, 8);
        assertThat(new IcebergAdapter(TESTING_TYPE_MANAGER).bucketHint(handle.forUpdate())).isNotEqualTo(hint);
    }

    private static OptionalLong hint(Transform transform, Type type, int size)
    {
        return new IcebergAdapter(TESTING_TYPE_MANAGER).bucketHint(handle(transform, type, size));
    }

    private static IcebergPartitioningHandle handle(Transform transform, Type type, int size)
    {
        return new IcebergPartitioningHandle(false, List.of(new IcebergPartitionFunction(transform, List.of(0), type, OptionalInt.of(size))), List.of(0));
    }
}
