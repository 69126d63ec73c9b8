package io.cachedhive.worker.storage;

import com.google.common.collect.ImmutableMap;
import io.airlift.units.DataSize;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;
import static io.airlift.units.DataSize.Unit.GIGABYTE;

class TestRamConfig
{
    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(RamConfig.class)
                .setDirectory(Path.of("/dev/shm"))
                .setMaxSize(DataSize.of(1, GIGABYTE))
                .setGuestMaxShare(0.1));
    }

    @Test
    void testExplicitPropertyMappings()
    {
        assertFullMapping(
                ImmutableMap.of("cache.ram.directory", "/mnt/huge", "cache.ram.max-size", "64GB", "cache.guest-max-share", "0.25"),
                new RamConfig()
                        .setDirectory(Path.of("/mnt/huge"))
                        .setMaxSize(DataSize.of(64, GIGABYTE))
                        .setGuestMaxShare(0.25));
    }
}
