package io.cachedhive.worker.origin;

import com.google.common.collect.ImmutableMap;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;

class TestOriginsConfig
{
    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(OriginsConfig.class).setDirectory(Path.of("etc/origins")));
    }

    @Test
    void testExplicitPropertyMappings()
    {
        assertFullMapping(ImmutableMap.of("cache.origins-directory", "/etc/origins"), new OriginsConfig().setDirectory(Path.of("/etc/origins")));
    }
}
