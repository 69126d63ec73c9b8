package io.cachedhive.trino.connector;

import io.trino.filesystem.TrinoFileSystem;
import io.trino.filesystem.TrinoInput;
import io.trino.filesystem.TrinoInputStream;
import io.trino.filesystem.cache.TrinoFileSystemCache;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorContext;
import io.trino.spi.connector.ConnectorNodePartitioningProvider;
import io.trino.spi.connector.ConnectorPageSource;
import io.trino.spi.connector.ConnectorPageSourceProvider;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorSplitManager;
import io.trino.spi.connector.ConnectorSplitSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A wrapper that inherits a default method of the interface loses what the wrapped object does there. A new default method of a later Trino must not be lost unseen.
 */
class TestForwardedMethods
{
    private static final List<Class<?>> INTERFACES = List.of(
            Connector.class,
            ConnectorContext.class,
            ConnectorNodePartitioningProvider.class,
            ConnectorPageSource.class,
            ConnectorPageSourceProvider.class,
            ConnectorSplit.class,
            ConnectorSplitManager.class,
            ConnectorSplitSource.class,
            TrinoFileSystem.class,
            TrinoFileSystemCache.class,
            TrinoInput.class,
            TrinoInputStream.class);

    /**
     * With the reason for each.
     */
    private static final Set<String> INHERITED = Set.of(
            // the page source reports what was read, and inputs must not report it twice
            "CachedTrinoInput.getMetrics",
            // it wraps nothing: the variants for slices call those for arrays, which it implements
            "CachedTrinoInput.readFully",
            "CachedTrinoInput.readTail");

    @ParameterizedTest
    @CsvSource({
            "connector.CachedConnector",
            "connector.ScheduleConnectorContext",
            "ahead.AnnouncingSplitManager",
            "ahead.AnnouncingSplitSource",
            "filesystem.CachedHiveFileSystemCache",
            "filesystem.CachedTrinoInput",
            "filesystem.CachedTrinoInputStream",
            "filesystem.CountingInput",
            "filesystem.CountingInputStream",
            "filesystem.RequestedInput",
            "filesystem.RequestedInputStream",
            "release.ReleasingFileSystem",
            "scan.ReadContextPageSource",
            "scan.ReadContextPageSourceProvider",
            "split.CachedSplit",
            "split.CachedSplitManager",
            "split.CachedSplitSource",
            "split.StableBucketPartitioning",
    })
    void testOverridesEveryMethod(String name)
            throws ReflectiveOperationException
    {
        Class<?> wrapper = Class.forName("io.cachedhive.trino." + name);
        List<Class<?>> wrapped = INTERFACES.stream().filter(type -> type.isAssignableFrom(wrapper)).toList();
        assertThat(wrapped).isNotEmpty();
        for (Class<?> type : wrapped) {
            List<Method> methods = Arrays.stream(type.getMethods())
                    // those of InputStream are nothing that Trino may add to
                    .filter(method -> type.isInterface() || method.getDeclaringClass() == type)
                    .filter(method -> !Modifier.isStatic(method.getModifiers()))
                    .toList();
            assertThat(methods).isNotEmpty();
            for (Method method : methods) {
                Class<?> implementing = wrapper.getMethod(method.getName(), method.getParameterTypes()).getDeclaringClass();
                String full = wrapper.getSimpleName() + "." + method.getName();
                if (!INHERITED.contains(full)) {
                    assertThat(implementing.getName()).as(full).startsWith("io.cachedhive.");
                }
            }
        }
    }
}
