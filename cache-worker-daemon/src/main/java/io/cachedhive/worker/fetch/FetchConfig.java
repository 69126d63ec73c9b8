package io.cachedhive.worker.fetch;

import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.units.DataSize;
import io.airlift.units.MaxDataSize;
import io.airlift.units.MinDataSize;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;

import static io.airlift.units.DataSize.Unit.MEGABYTE;

public class FetchConfig
{
    private DataSize maxRangeSize = DataSize.of(8, MEGABYTE);
    private int maxRequestsPerBucket = 64;
    private int maxPreloadRequests = 4;

    @NotNull
    @MinDataSize("64kB")
    @MaxDataSize("64MB")
    public DataSize getMaxRangeSize()
    {
        return maxRangeSize;
    }

    @Config("cache.fetch.max-range-size")
    @ConfigDescription("How much of neighbouring missing blocks one request to the object store may ask for; at least one block")
    public FetchConfig setMaxRangeSize(DataSize maxRangeSize)
    {
        this.maxRangeSize = maxRangeSize;
        return this;
    }

    @Min(1)
    @Max(512)
    public int getMaxRequestsPerBucket()
    {
        return maxRequestsPerBucket;
    }

    @Config("cache.fetch.max-requests-per-bucket")
    @ConfigDescription("Requests to one bucket at the same time; fewer for a while after it answered that they are too many")
    public FetchConfig setMaxRequestsPerBucket(int maxRequestsPerBucket)
    {
        this.maxRequestsPerBucket = maxRequestsPerBucket;
        return this;
    }

    @Min(1)
    @Max(64)
    public int getMaxPreloadRequests()
    {
        return maxPreloadRequests;
    }

    @Config("cache.fetch.max-preload-requests")
    @ConfigDescription("Requests for preloads at the same time, out of those of all buckets")
    public FetchConfig setMaxPreloadRequests(int maxPreloadRequests)
    {
        this.maxPreloadRequests = maxPreloadRequests;
        return this;
    }
}
