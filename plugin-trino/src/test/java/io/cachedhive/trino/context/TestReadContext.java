package io.cachedhive.trino.context;

import io.cachedhive.plugin.mode.CacheDecision;
import io.trino.filesystem.Location;
import io.trino.spi.connector.SchemaTableName;
import org.junit.jupiter.api.Test;

import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestReadContext
{
    @Test
    void testNests()
    {
        ReadContext outer = context("lake");
        ReadContext inner = context("lake");
        assertThat(ReadContext.current("lake")).isEmpty();
        try (ReadContext.Opened _ = outer.open()) {
            assertThat(ReadContext.current("lake")).contains(outer);
            try (ReadContext.Opened _ = inner.open()) {
                assertThat(ReadContext.current("lake")).contains(inner);
                try (ReadContext.Opened _ = ReadContext.none()) {
                    assertThat(ReadContext.current("lake")).isEmpty();
                }
                assertThat(ReadContext.current("lake")).contains(inner);
            }
            assertThat(ReadContext.current("lake")).contains(outer);
        }
        assertThat(ReadContext.current("lake")).isEmpty();
    }

    @Test
    void testIsOfOneCatalogAndOneThread()
            throws Exception
    {
        try (ReadContext.Opened _ = context("lake").open()) {
            assertThat(ReadContext.current("pond")).isEmpty();
            Thread thread = new Thread(() -> assertThat(ReadContext.current("lake")).isEmpty());
            boolean[] failed = new boolean[1];
            thread.setUncaughtExceptionHandler((_, _) -> failed[0] = true);
            thread.start();
            thread.join();
            assertThat(failed[0]).isFalse();
        }
    }

    public static ReadContext context(String catalog)
    {
        return new ReadContext(
                catalog,
                "query",
                new SchemaTableName("s", "t"),
                () -> null,
                CacheDecision.CACHE,
                Optional.empty(),
                new SplitFile(Location.of("s3://lake/file"), 100, 1000, 100));
    }
}
