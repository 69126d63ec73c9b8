package io.cachedhive.plugin.connector;

import io.cachedhive.plugin.ahead.FetchAhead;
import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.plugin.mode.CacheMode;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.rules.RuleRegistry;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorNodePartitioningProvider;
import io.trino.spi.connector.ConnectorPageSourceProviderFactory;
import io.trino.spi.connector.ConnectorSplitManager;
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
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

class TestCachedHiveConnector
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
        CachedHiveConnector connector = new CachedHiveConnector(recording(Connector.class, calls), extensions(), "lake", TestCachedHiveConnector.class.getClassLoader());

        // a default of the interface that is merely inherited would be a method of Hive's that is lost
        Method own = CachedHiveConnector.class.getDeclaredMethod(method.getName(), method.getParameterTypes());
        own.setAccessible(true);
        Object result = own.invoke(connector, Arrays.stream(method.getParameterTypes()).map(TestCachedHiveConnector::anyValue).toArray());
        if (result instanceof ConnectorPageSourceProviderFactory factory) {
            factory.createPageSourceProvider();
        }
        assertThat(calls).contains(method.getName());
    }

    private static ConnectorExtensions extensions()
    {
        FileOrigins origins = FileOrigins.of("default", Map.of(), false);
        return new ConnectorExtensions(
                new CachedHiveConfig(),
                origins,
                new CacheDecisions("lake", CacheMode.ON, Optional::empty, Optional.empty()),
                () -> RingView.EMPTY,
                new FetchAhead(origins, 512 << 20, Optional::empty, Optional.empty()),
                RuleRegistry.withoutFile("catalog"),
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
}
