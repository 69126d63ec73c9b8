package io.cachedhive.worker.origin;

import com.google.common.collect.ImmutableMap;
import org.junit.jupiter.api.Test;

import java.util.Set;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;

class TestOriginAccessConfig
{
    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(OriginAccessConfig.class)
                .setIsolationDomain(null)
                .setSharedPermissions(false)
                .setAllowedLocations(""));
    }

    @Test
    void testExplicitPropertyMappings()
    {
        // the domain and shared permissions contradict each other
        assertFullMapping(
                ImmutableMap.of("isolation-domain", "finance", "allowed-locations", "s3://lake/sales/, s3://archive"),
                new OriginAccessConfig().setIsolationDomain("finance").setAllowedLocations("s3://lake/sales/,s3://archive"),
                Set.of("shared-permissions"));
        assertFullMapping(
                ImmutableMap.of("shared-permissions", "true", "allowed-locations", "s3://archive"),
                new OriginAccessConfig().setSharedPermissions(true).setAllowedLocations("s3://archive"),
                Set.of("isolation-domain"));
    }
}
