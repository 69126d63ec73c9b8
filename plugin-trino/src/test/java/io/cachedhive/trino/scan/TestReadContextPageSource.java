package io.cachedhive.trino.scan;

import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.trino.context.ReadContext;
import io.cachedhive.trino.context.SplitFile;
import io.trino.filesystem.Location;
import io.trino.plugin.base.metrics.LongCount;
import io.trino.spi.connector.ConnectorPageSource;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.metrics.Metrics;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

class TestReadContextPageSource
{
    private final ReadContext context = new ReadContext(
            "lake",
            "query",
            new SchemaTableName("s", "t"),
            () -> null,
            CacheDecision.CACHE,
            Optional.empty(),
            new SplitFile(Location.of("s3://lake/file"), 100, 1000, 100));

    @TestFactory
    Stream<DynamicTest> testOpensTheContextAroundEveryCall()
    {
        return Arrays.stream(ConnectorPageSource.class.getMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .map(method -> DynamicTest.dynamicTest(method.getName(), () -> assertInContext(method)));
    }

    private void assertInContext(Method method)
            throws Exception
    {
        List<String> calls = new ArrayList<>();
        ConnectorPageSource delegate = (ConnectorPageSource) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {ConnectorPageSource.class}, (_, called, _) -> {
            assertThat(ReadContext.current("lake")).contains(context);
            calls.add(called.getName());
            return switch (called.getName()) {
                case "getCompletedBytes", "getReadTimeNanos", "getMemoryUsage" -> 1L;
                case "getCompletedPositions" -> OptionalLong.of(1);
                case "isFinished" -> true;
                case "getMetrics" -> Metrics.EMPTY;
                default -> null;
            };
        });
        method.invoke(new ReadContextPageSource(delegate, context));
        assertThat(calls).containsExactly(method.getName());
        assertThat(ReadContext.current("lake")).isEmpty();
    }

    @Test
    void testAddsBytesBySourceToMetrics()
    {
        context.addRequested(5);
        ConnectorPageSource delegate = (ConnectorPageSource) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ConnectorPageSource.class},
                (_, _, _) -> new Metrics(Map.of("hive", new LongCount(7))));
        assertThat(new ReadContextPageSource(delegate, context).getMetrics().getMetrics())
                .containsEntry("hive", new LongCount(7))
                .containsEntry("requested_bytes", new LongCount(5))
                .containsEntry("ram_hit_bytes", new LongCount(0))
                .containsEntry("bypass_bytes", new LongCount(0));
    }
}
