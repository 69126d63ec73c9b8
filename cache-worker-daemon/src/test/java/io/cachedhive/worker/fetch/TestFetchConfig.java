package io.cachedhive.worker.fetch;

import com.google.common.collect.ImmutableMap;
import io.airlift.units.DataSize;
import org.junit.jupiter.api.Test;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;
import static io.airlift.units.DataSize.Unit.MEGABYTE;

class TestFetchConfig
{
    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(FetchConfig.class)
                .setMaxRangeSize(DataSize.of(8, MEGABYTE))
                .setMaxRequestsPerBucket(64)
                .setMaxPreloadRequests(4));
    }

    @Test
    void testExplicitPropertyMappings()
    {
        assertFullMapping(
                ImmutableMap.of(
                        "cache.fetch.max-range-size", "16MB",
                        "cache.fetch.max-requests-per-bucket", "8",
                        "cache.fetch.max-preload-requests", "2"),
                new FetchConfig()
                        .setMaxRangeSize(DataSize.of(16, MEGABYTE))
                        .setMaxRequestsPerBucket(8)
                        .setMaxPreloadRequests(2));
    }
}
