package io.cachedhive.worker.storage;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import io.airlift.units.DataSize;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;
import static io.airlift.units.DataSize.Unit.BYTE;
import static io.airlift.units.DataSize.Unit.GIGABYTE;
import static org.assertj.core.api.Assertions.assertThat;

class TestSsdConfig
{
    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(SsdConfig.class)
                .setDirectories(ImmutableList.of())
                .setMaxSizes(ImmutableList.of())
                .setMaxDiskUsagePercentages(ImmutableList.of()));
    }

    @Test
    void testExplicitPropertyMappings()
    {
        // sizes and percentages exclude each other
        assertFullMapping(
                ImmutableMap.of("cache.ssd.directories", "/mnt/a, /mnt/b", "cache.ssd.max-sizes", "1GB, 2GB"),
                new SsdConfig()
                        .setDirectories(ImmutableList.of(Path.of("/mnt/a"), Path.of("/mnt/b")))
                        .setMaxSizes(ImmutableList.of(DataSize.of(1, GIGABYTE), DataSize.of(2, GIGABYTE))),
                ImmutableSet.of("cache.ssd.max-disk-usage-percentages"));
        assertFullMapping(
                ImmutableMap.of("cache.ssd.directories", "/mnt/a, /mnt/b", "cache.ssd.max-disk-usage-percentages", "50, 60"),
                new SsdConfig()
                        .setDirectories(ImmutableList.of(Path.of("/mnt/a"), Path.of("/mnt/b")))
                        .setMaxDiskUsagePercentages(ImmutableList.of(50, 60)),
                ImmutableSet.of("cache.ssd.max-sizes"));
    }

    @Test
    void testOneCapacityForEachDirectory()
    {
        ImmutableList<Path> directories = ImmutableList.of(Path.of("/mnt/a"), Path.of("/mnt/b"));
        DataSize size = DataSize.of(1, GIGABYTE);

        assertThat(new SsdConfig().isCapacityOfEachDirectoryKnown()).isTrue();
        assertThat(new SsdConfig().setDirectories(directories).isCapacityOfEachDirectoryKnown()).isFalse();
        assertThat(new SsdConfig().setDirectories(directories).setMaxSizes(ImmutableList.of(size)).isCapacityOfEachDirectoryKnown()).isFalse();
        assertThat(new SsdConfig().setDirectories(directories).setMaxSizes(ImmutableList.of(size, size)).isCapacityOfEachDirectoryKnown()).isTrue();
        assertThat(new SsdConfig().setDirectories(directories).setMaxDiskUsagePercentages(ImmutableList.of(10, 20)).isCapacityOfEachDirectoryKnown()).isTrue();
        SsdConfig both = new SsdConfig().setDirectories(directories).setMaxSizes(ImmutableList.of(size)).setMaxDiskUsagePercentages(ImmutableList.of(10));
        assertThat(both.isCapacityOfEachDirectoryKnown()).isFalse();
        assertThat(new SsdConfig().setMaxSizes(ImmutableList.of(DataSize.of(0, BYTE))).isEachSizePositive()).isFalse();
    }

    @Test
    void testDirectoryConfigs()
    {
        SsdConfig sizes = new SsdConfig()
                .setDirectories(ImmutableList.of(Path.of("/mnt/a"), Path.of("/mnt/b")))
                .setMaxSizes(ImmutableList.of(DataSize.of(1, GIGABYTE), DataSize.of(2, GIGABYTE)));
        assertThat(sizes.toDirectoryConfigs()).containsExactly(
                new SsdDirectoryConfig(Path.of("/mnt/a"), new Capacity.Bytes(1L << 30)),
                new SsdDirectoryConfig(Path.of("/mnt/b"), new Capacity.Bytes(2L << 30)));

        SsdConfig shares = new SsdConfig()
                .setDirectories(ImmutableList.of(Path.of("/mnt/a")))
                .setMaxDiskUsagePercentages(ImmutableList.of(70));
        assertThat(shares.toDirectoryConfigs()).containsExactly(new SsdDirectoryConfig(Path.of("/mnt/a"), new Capacity.DiskPercentage(70)));
    }
}
