package io.cachedhive.worker.storage;

import com.google.common.collect.ImmutableList;
import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.units.DataSize;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

import static com.google.common.collect.ImmutableList.toImmutableList;

/**
 * The SSD tier: its directories, each with a size or a percentage of its disk, in the same order.
 */
public class SsdConfig
{
    private List<Path> directories = ImmutableList.of();
    private List<DataSize> maxSizes = ImmutableList.of();
    private List<Integer> maxDiskUsagePercentages = ImmutableList.of();

    @NotNull
    public List<Path> getDirectories()
    {
        return directories;
    }

    @Config("cache.ssd.directories")
    @ConfigDescription("Comma-separated directories of the SSD tier; empty for a cache in RAM only")
    public SsdConfig setDirectories(List<Path> directories)
    {
        this.directories = ImmutableList.copyOf(directories);
        return this;
    }

    @NotNull
    public List<DataSize> getMaxSizes()
    {
        return maxSizes;
    }

    @Config("cache.ssd.max-sizes")
    @ConfigDescription("Size of each directory, in the same order; allocated at startup")
    public SsdConfig setMaxSizes(List<DataSize> maxSizes)
    {
        this.maxSizes = ImmutableList.copyOf(maxSizes);
        return this;
    }

    @NotNull
    public List<@Min(1) @Max(100) Integer> getMaxDiskUsagePercentages()
    {
        return maxDiskUsagePercentages;
    }

    @Config("cache.ssd.max-disk-usage-percentages")
    @ConfigDescription("Percentage of each directory's disk, in the same order, instead of sizes")
    public SsdConfig setMaxDiskUsagePercentages(List<Integer> maxDiskUsagePercentages)
    {
        this.maxDiskUsagePercentages = ImmutableList.copyOf(maxDiskUsagePercentages);
        return this;
    }

    @AssertTrue(message = "either cache.ssd.max-sizes or cache.ssd.max-disk-usage-percentages may be set, with one value for each of cache.ssd.directories")
    public boolean isCapacityOfEachDirectoryKnown()
    {
        return (maxSizes.isEmpty() || maxDiskUsagePercentages.isEmpty()) && maxSizes.size() + maxDiskUsagePercentages.size() == directories.size();
    }

    @AssertTrue(message = "cache.ssd.max-sizes must be positive")
    public boolean isEachSizePositive()
    {
        return maxSizes.stream().allMatch(size -> size.toBytes() > 0);
    }

    public List<SsdDirectoryConfig> toDirectoryConfigs()
    {
        return IntStream.range(0, directories.size())
                .mapToObj(index -> new SsdDirectoryConfig(directories.get(index).toAbsolutePath(), capacity(index)))
                .collect(toImmutableList());
    }

    private Capacity capacity(int index)
    {
        return maxSizes.isEmpty() ? new Capacity.DiskPercentage(maxDiskUsagePercentages.get(index)) : new Capacity.Bytes(maxSizes.get(index).toBytes());
    }
}
