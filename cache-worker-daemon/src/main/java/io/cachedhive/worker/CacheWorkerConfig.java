package io.cachedhive.worker;

import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.configuration.ConfigSecuritySensitive;
import io.airlift.units.DataSize;
import io.airlift.units.Duration;
import io.airlift.units.MaxDataSize;
import io.airlift.units.MinDataSize;
import io.airlift.units.MinDuration;
import io.cachedhive.store.StoreConfig;
import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.DecimalMax;
import jakarta.validation.constraints.DecimalMin;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;

import java.nio.file.Path;
import java.util.Optional;

import static io.airlift.units.DataSize.Unit.MEGABYTE;
import static java.util.concurrent.TimeUnit.DAYS;

/**
 * The addresses, the shared secret and the retention settings of a cache worker.
 */
public class CacheWorkerConfig
{
    private int port = 8484;
    private Path socketPath = Path.of("/run/cachedhive/worker.sock");
    private Optional<String> socketGroup = Optional.empty();
    private DataSize blockSize = DataSize.of(1, MEGABYTE);
    private Duration ttl = new Duration(7, DAYS);
    private double pinnedMaxShare = StoreConfig.DEFAULT_PINNED_MAX_SHARE;
    private Path stateDirectory = Path.of("state");
    private Optional<String> zone = Optional.empty();
    private Optional<String> sharedSecret = Optional.empty();

    @Min(1)
    @Max(65535)
    public int getPort()
    {
        return port;
    }

    @Config("cache.worker.port")
    @ConfigDescription("TCP port of the block server, for Trino workers on other hosts and the coordinator")
    public CacheWorkerConfig setPort(int port)
    {
        this.port = port;
        return this;
    }

    @NotNull
    public Path getSocketPath()
    {
        return socketPath;
    }

    @Config("cache.worker.socket-path")
    @ConfigDescription("Unix socket of the block server, for the Trino workers of this host")
    public CacheWorkerConfig setSocketPath(Path socketPath)
    {
        this.socketPath = socketPath;
        return this;
    }

    @NotNull
    public Optional<String> getSocketGroup()
    {
        return socketGroup;
    }

    @Config("cache.worker.socket-group")
    @ConfigDescription("Group that may use the Unix socket and read the shared memory; unset restricts both to the user of this process")
    public CacheWorkerConfig setSocketGroup(String socketGroup)
    {
        this.socketGroup = Optional.ofNullable(socketGroup).filter(value -> !value.isBlank());
        return this;
    }

    @NotNull
    @MinDataSize("64kB")
    @MaxDataSize("8MB")
    public DataSize getBlockSize()
    {
        return blockSize;
    }

    @Config("cache.block-size")
    @ConfigDescription("Unit of caching, a power of two from 64kB to 8MB; another value empties the cache")
    public CacheWorkerConfig setBlockSize(DataSize blockSize)
    {
        this.blockSize = blockSize;
        return this;
    }

    @AssertTrue(message = "cache.block-size must be a power of two")
    public boolean isBlockSizePowerOfTwo()
    {
        return blockSize == null || Long.bitCount(blockSize.toBytes()) == 1;
    }

    @NotNull
    @MinDuration("1m")
    public Duration getTtl()
    {
        return ttl;
    }

    @Config("cache.ttl")
    @ConfigDescription("Time to live of a block")
    public CacheWorkerConfig setTtl(Duration ttl)
    {
        this.ttl = ttl;
        return this;
    }

    @DecimalMin("0")
    @DecimalMax("1")
    public double getPinnedMaxShare()
    {
        return pinnedMaxShare;
    }

    @Config("cache.pinned-max-share")
    @ConfigDescription("Fraction of the SSD tier, or of the RAM tier when there is no SSD, for pinned blocks")
    public CacheWorkerConfig setPinnedMaxShare(double pinnedMaxShare)
    {
        this.pinnedMaxShare = pinnedMaxShare;
        return this;
    }

    @NotNull
    public Path getStateDirectory()
    {
        return stateDirectory;
    }

    @Config("cache.state-directory")
    @ConfigDescription("Directory for state that survives a restart besides the SSD tier: counters, rings, the id of a cache worker without SSD")
    public CacheWorkerConfig setStateDirectory(Path stateDirectory)
    {
        this.stateDirectory = stateDirectory;
        return this;
    }

    @NotNull
    public Optional<String> getZone()
    {
        return zone;
    }

    @Config("cache.worker.zone")
    @ConfigDescription("Zone of this host, reported to the coordinator")
    public CacheWorkerConfig setZone(String zone)
    {
        this.zone = Optional.ofNullable(zone).filter(value -> !value.isBlank());
        return this;
    }

    @NotNull
    public Optional<String> getSharedSecret()
    {
        return sharedSecret;
    }

    @Config("internal-communication.shared-secret")
    @ConfigDescription("Secret shared by all cache workers and Trino servers of a cluster, never sent over the network; required to listen on other than loopback addresses")
    @ConfigSecuritySensitive
    public CacheWorkerConfig setSharedSecret(String sharedSecret)
    {
        this.sharedSecret = Optional.ofNullable(sharedSecret).filter(value -> !value.isBlank());
        return this;
    }
}
