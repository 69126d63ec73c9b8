package io.cachedhive.plugin.connector;

import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.configuration.ConfigSecuritySensitive;
import io.airlift.units.DataSize;
import io.airlift.units.Duration;
import io.airlift.units.MinDataSize;
import io.airlift.units.MinDuration;
import io.cachedhive.plugin.split.NodeSelectionStrategy;
import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.DecimalMax;
import jakarta.validation.constraints.DecimalMin;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;

import java.util.Optional;

import static io.airlift.units.DataSize.Unit.MEGABYTE;
import static java.util.concurrent.TimeUnit.MINUTES;

/**
 * The {@code cachedhive.*} properties of a catalog. The same on all nodes of a cluster.
 */
public class CachedHiveConfig
{
    /**
     * The largest block size of a cache worker: a chunk is made of whole blocks, whatever their size.
     */
    private static final DataSize MAX_BLOCK_SIZE = DataSize.of(8, MEGABYTE);

    private CacheMode mode = CacheMode.ON;
    private String clusterName = "trino";
    private String origin = "default";
    private String workerSocketPath = "/run/cachedhive/worker.sock";
    private int workerPort = 8484;
    private Optional<String> sharedSecret = Optional.empty();
    private DataSize chunkSize = DataSize.of(512, MEGABYTE);
    private NodeSelectionStrategy nodeSelectionStrategy = NodeSelectionStrategy.SOFT_AFFINITY;
    private Duration gracePeriod = new Duration(5, MINUTES);
    private double minLiveShare = 0.8;
    private boolean sharedPermissions;
    private boolean cacheLocalFiles;

    @NotNull
    public CacheMode getMode()
    {
        return mode;
    }

    @Config("cachedhive.mode")
    @ConfigDescription("ON, or OFF for exactly plain Hive")
    public CachedHiveConfig setMode(CacheMode mode)
    {
        this.mode = mode;
        return this;
    }

    @NotNull
    @Pattern(regexp = "[A-Za-z0-9._-]{1,64}", message = "must be 1 to 64 letters, digits, '-', '_', '.'")
    public String getClusterName()
    {
        return clusterName;
    }

    @Config("cachedhive.cluster-name")
    @ConfigDescription("Name of this Trino cluster: cache workers keep the counters of each cluster apart")
    public CachedHiveConfig setClusterName(String clusterName)
    {
        this.clusterName = clusterName;
        return this;
    }

    @NotNull
    @Pattern(regexp = "[A-Za-z0-9._-]{1,64}", message = "must be 1 to 64 letters, digits, '-', '_', '.'")
    public String getOrigin()
    {
        return origin;
    }

    @Config("cachedhive.origin")
    @ConfigDescription("Name of the file etc/origins/<name>.properties of the cache workers with which they read this catalog's files")
    public CachedHiveConfig setOrigin(String origin)
    {
        this.origin = origin;
        return this;
    }

    @NotNull
    public String getWorkerSocketPath()
    {
        return workerSocketPath;
    }

    @Config("cachedhive.worker.socket-path")
    @ConfigDescription("Unix socket of the cache worker of each host")
    public CachedHiveConfig setWorkerSocketPath(String workerSocketPath)
    {
        this.workerSocketPath = workerSocketPath;
        return this;
    }

    @Min(1)
    @Max(65535)
    public int getWorkerPort()
    {
        return workerPort;
    }

    @Config("cachedhive.worker.port")
    @ConfigDescription("TCP port of the cache worker of each host")
    public CachedHiveConfig setWorkerPort(int workerPort)
    {
        this.workerPort = workerPort;
        return this;
    }

    @NotNull
    public Optional<String> getSharedSecret()
    {
        return sharedSecret;
    }

    @Config("cachedhive.shared-secret")
    @ConfigSecuritySensitive
    @ConfigDescription("The cache workers' internal-communication.shared-secret")
    public CachedHiveConfig setSharedSecret(String sharedSecret)
    {
        this.sharedSecret = Optional.ofNullable(sharedSecret);
        return this;
    }

    @NotNull
    @MinDataSize("8MB")
    public DataSize getChunkSize()
    {
        return chunkSize;
    }

    @Config("cachedhive.chunk-size")
    @ConfigDescription("Aligned ranges of this size of a file have one owner")
    public CachedHiveConfig setChunkSize(DataSize chunkSize)
    {
        this.chunkSize = chunkSize;
        return this;
    }

    @AssertTrue(message = "cachedhive.chunk-size must be a multiple of 8MB, the largest block size")
    public boolean isChunkSizeOfWholeBlocks()
    {
        return chunkSize.toBytes() % MAX_BLOCK_SIZE.toBytes() == 0;
    }

    @NotNull
    public NodeSelectionStrategy getNodeSelectionStrategy()
    {
        return nodeSelectionStrategy;
    }

    @Config("cachedhive.node-selection-strategy")
    @ConfigDescription("SOFT_AFFINITY, HARD_AFFINITY or NO_PREFERENCE; the session property node_selection_strategy overrides it")
    public CachedHiveConfig setNodeSelectionStrategy(NodeSelectionStrategy nodeSelectionStrategy)
    {
        this.nodeSelectionStrategy = nodeSelectionStrategy;
        return this;
    }

    @NotNull
    @MinDuration("0s")
    public Duration getGracePeriod()
    {
        return gracePeriod;
    }

    @Config("cachedhive.grace-period")
    @ConfigDescription("How long a silent cache worker keeps its chunks")
    public CachedHiveConfig setGracePeriod(Duration gracePeriod)
    {
        this.gracePeriod = gracePeriod;
        return this;
    }

    @DecimalMin("0.0")
    @DecimalMax("1.0")
    public double getMinLiveShare()
    {
        return minLiveShare;
    }

    @Config("cachedhive.min-live-share")
    @ConfigDescription("While at least this share of the places has a live cache worker, those own all chunks; below, the others' chunks are read from the origin")
    public CachedHiveConfig setMinLiveShare(double minLiveShare)
    {
        this.minLiveShare = minLiveShare;
        return this;
    }

    public boolean isSharedPermissions()
    {
        return sharedPermissions;
    }

    @Config("cachedhive.shared-permissions")
    @ConfigDescription("Cache also where the origin's permissions depend on the user: whoever may read a table through Trino then reads what others have cached")
    public CachedHiveConfig setSharedPermissions(boolean sharedPermissions)
    {
        this.sharedPermissions = sharedPermissions;
        return this;
    }

    public boolean isCacheLocalFiles()
    {
        return cacheLocalFiles;
    }

    @Config("cachedhive.cache-local-files")
    @ConfigDescription("Cache file: and local: locations; only where all hosts see the same files")
    public CachedHiveConfig setCacheLocalFiles(boolean cacheLocalFiles)
    {
        this.cacheLocalFiles = cacheLocalFiles;
        return this;
    }
}
