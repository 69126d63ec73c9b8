package io.cachedhive.worker;

import com.google.common.collect.ImmutableList;
import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.configuration.ConfigSecuritySensitive;
import io.airlift.units.DataSize;
import io.airlift.units.Duration;
import io.airlift.units.MaxDataSize;
import io.airlift.units.MinDataSize;
import io.airlift.units.MinDuration;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.worker.server.TlsMode;
import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.DecimalMax;
import jakarta.validation.constraints.DecimalMin;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;

import java.nio.file.Path;
import java.util.List;
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
    private List<String> socketUsers = ImmutableList.of();
    private DataSize blockSize = DataSize.of(1, MEGABYTE);
    private Duration ttl = new Duration(7, DAYS);
    private double pinnedMaxShare = StoreConfig.DEFAULT_PINNED_MAX_SHARE;
    private Path stateDirectory = Path.of("state");
    private Optional<String> zone = Optional.empty();
    private Optional<String> sharedSecret = Optional.empty();
    private Optional<Path> sharedSecretFile = Optional.empty();
    private TlsMode tls = TlsMode.REQUIRED;

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
    public List<String> getSocketUsers()
    {
        return socketUsers;
    }

    @Config("cache.worker.socket-users")
    @ConfigDescription("Users, by name or number, that may use the Unix socket besides root and the user of this process; unset leaves it to the permissions")
    public CacheWorkerConfig setSocketUsers(List<String> socketUsers)
    {
        this.socketUsers = ImmutableList.copyOf(socketUsers);
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
    @ConfigDescription("Secret of at least 32 characters, shared by all cache workers and catalogs of a cluster; required to listen on other than loopback addresses")
    @ConfigSecuritySensitive
    public CacheWorkerConfig setSharedSecret(String sharedSecret)
    {
        this.sharedSecret = Optional.ofNullable(sharedSecret).filter(value -> !value.isBlank());
        return this;
    }

    @NotNull
    public Optional<Path> getSharedSecretFile()
    {
        return sharedSecretFile;
    }

    @Config("internal-communication.shared-secret-file")
    @ConfigDescription("File with the shared secret, and in a second line another valid secret during a rotation; read again when it changes")
    public CacheWorkerConfig setSharedSecretFile(Path sharedSecretFile)
    {
        this.sharedSecretFile = Optional.ofNullable(sharedSecretFile);
        return this;
    }

    @NotNull
    public TlsMode getTls()
    {
        return tls;
    }

    @Config("cache.worker.tls")
    @ConfigDescription("Whether peers on TCP must use TLS: REQUIRED, or ALLOWED during a rolling upgrade from a release without TLS")
    public CacheWorkerConfig setTls(TlsMode tls)
    {
        this.tls = tls;
        return this;
    }
}
