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
    @ConfigDescription("Maximum size of one request to the object store for adjacent missing blocks; at least one block")
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
    @ConfigDescription("Maximum concurrent requests to one bucket; lowered temporarily after the bucket throttles requests")
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
    @ConfigDescription("Maximum concurrent requests for preloads, part of the requests to all buckets")
    public FetchConfig setMaxPreloadRequests(int maxPreloadRequests)
    {
        this.maxPreloadRequests = maxPreloadRequests;
        return this;
    }
}
