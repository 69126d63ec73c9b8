package io.cachedhive.plugin.config;

import org.junit.jupiter.api.Test;

import java.util.Map;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;

class TestPricesConfig
{
    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(PricesConfig.class)
                .setPricePerThousandRequests(0.0004)
                .setPricePerGigabyte(0)
                .setCrossZonePricePerGigabyte(0.02));
    }

    @Test
    void testExplicitPropertyMappings()
    {
        assertFullMapping(
                Map.of(
                        "cachedhive.price-per-thousand-requests", "0.005",
                        "cachedhive.price-per-gigabyte", "0.09",
                        "cachedhive.cross-zone-price-per-gigabyte", "0.01"),
                new PricesConfig()
                        .setPricePerThousandRequests(0.005)
                        .setPricePerGigabyte(0.09)
                        .setCrossZonePricePerGigabyte(0.01));
    }
}
