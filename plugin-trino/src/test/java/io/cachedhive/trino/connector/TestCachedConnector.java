package io.cachedhive.trino.connector;

import io.cachedhive.plugin.ahead.FetchAhead;
import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.plugin.mode.CacheMode;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.rules.RuleRegistry;
import io.cachedhive.plugin.table.ScanFile;
import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.cachedhive.trino.query.ScanReporter;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorNodePartitioningProvider;
import io.trino.spi.connector.ConnectorPageSourceProviderFactory;
import io.trino.spi.connector.ConnectorPartitioningHandle;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorSplitManager;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.SchemaTableName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

class TestCachedConnector
{
    @TestFactory
    Stream<DynamicTest> testForwardsEveryMethod()
    {
        return Arrays.stream(Connector.class.getMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .map(method -> DynamicTest.dynamicTest(method.getName(), () -> assertForwards(method)));
    }

    private static void assertForwards(Method method)
            throws Exception
    {
        List<String> calls = new ArrayList<>();
        CachedConnector connector = new CachedConnector(recording(Connector.class, calls), extensions(), "lake", TestCachedConnector.class.getClassLoader());

        // a default of the interface that is merely inherited would be a method of Hive's that is lost
        Method own = CachedConnector.class.getDeclaredMethod(method.getName(), method.getParameterTypes());
        own.setAccessible(true);
        Object result = own.invoke(connector, Arrays.stream(method.getParameterTypes()).map(TestCachedConnector::anyValue).toArray());
        if (result instanceof ConnectorPageSourceProviderFactory factory) {
            factory.createPageSourceProvider();
        }
        assertThat(calls).contains(method.getName());
    }

    private static CacheServices extensions()
    {
        FileOrigins origins = FileOrigins.of("default", Map.of(), false);
        return new CacheServices(
                new NoAdapter(),
                (_, _) -> null,
                new CachedHiveConfig(),
                origins,
                new CacheDecisions("lake", CacheMode.ON, Optional::empty, Optional.empty()),
                () -> RingView.EMPTY,
                new FetchAhead(origins, 512 << 20, Optional::empty, Optional.empty()),
                RuleRegistry.withoutFile("catalog"),
                new ScanReporter("node"),
                Set.of());
    }

    @SuppressWarnings("unchecked")
    private static <T> T recording(Class<T> type, List<String> calls)
    {
        InvocationHandler handler = (_, method, _) -> {
            calls.add(method.getName());
            return anyResult(method.getReturnType(), calls);
        };
        return (T) Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
    }

    private static Object anyResult(Class<?> type, List<String> calls)
    {
        if (type == Optional.class) {
            return Optional.empty();
        }
        if (type == Set.class) {
            return Set.of();
        }
        if (type == List.class) {
            return List.of();
        }
        boolean wrapped = type == ConnectorSplitManager.class ||
                type == ConnectorNodePartitioningProvider.class ||
                type.getSimpleName().startsWith("ConnectorPageSourceProvider");
        if (type.isInterface() && wrapped) {
            return recording(type, calls);
        }
        return anyValue(type);
    }

    private static Object anyValue(Class<?> type)
    {
        return type == boolean.class ? false : null;
    }

    private static final class NoAdapter
            implements ConnectorAdapter
    {
        @Override
        public Optional<SchemaTableName> findTable(ConnectorTableHandle table)
        {
            return Optional.empty();
        }

        @Override
        public boolean fillsCache(ConnectorTableHandle table)
        {
            return true;
        }

        @Override
        public Function<ConnectorSplit, Map<String, String>> partitionValues(ConnectorTableHandle table)
        {
            return _ -> Map.of();
        }

        @Override
        public Optional<ScanFile> findFile(ConnectorSplit split)
        {
            return Optional.empty();
        }

        @Override
        public OptionalLong bucketHint(ConnectorPartitioningHandle partitioning)
        {
            return OptionalLong.empty();
        }
    }
}
