package io.cachedhive.plugin.config;

import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.configuration.ConfigSecuritySensitive;
import io.airlift.units.DataSize;
import io.airlift.units.Duration;
import io.airlift.units.MinDataSize;
import io.airlift.units.MinDuration;
import io.cachedhive.plugin.mode.CacheMode;
import io.cachedhive.protocol.file.IsolationDomain;
import io.cachedhive.protocol.memory.HitVerification;
import jakarta.validation.constraints.AssertFalse;
import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.DecimalMax;
import jakarta.validation.constraints.DecimalMin;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;

import java.nio.file.Path;
import java.util.Optional;

import static io.airlift.units.DataSize.Unit.MEGABYTE;
import static io.airlift.units.DataSize.Unit.PETABYTE;
import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;

/**
 * The {@code cachedhive.*} properties of a catalog. The same on all nodes of a cluster.
 */
public class CachedHiveConfig
{
    private CacheMode mode = CacheMode.ON;
    private String clusterName = "trino";
    private String origin = "default";
    private String workerSocketPath = "/run/cachedhive/worker.sock";
    private int workerPort = 8484;
    private Optional<String> sharedSecret = Optional.empty();
    private Optional<Path> sharedSecretFile = Optional.empty();
    private DataSize chunkSize = DataSize.of(512, MEGABYTE);
    private NodeSelectionStrategy nodeSelectionStrategy = NodeSelectionStrategy.SOFT_AFFINITY;
    private double maxScanSkew = 0.25;
    private boolean crossZoneReads;
    private double verifySampleRatio;
    private Optional<HitVerification> ramVerification = Optional.empty();
    private Duration gracePeriod = new Duration(5, MINUTES);
    private double minLiveShare = 0.8;
    private Optional<String> isolationDomain = Optional.empty();
    private DataSize maxWorkerWeight = DataSize.of(1, PETABYTE);
    private boolean sharedPermissions;
    private boolean cacheLocalFiles;
    private boolean fetchAhead = true;
    private Optional<String> rulesFile = Optional.empty();
    private Duration rulesRefreshPeriod = new Duration(2, SECONDS);
    private Optional<AdminUsers> adminUsers = Optional.empty();

    @NotNull
    public CacheMode getMode()
    {
        return mode;
    }

    @Config("cachedhive.mode")
    @ConfigDescription("ON; READ_ONLY to add nothing to the cache; SHADOW to read from the origin and only count hits; OFF for plain Hive behavior")
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
    @ConfigDescription("Name of this Trino cluster: cache workers keep separate counters for each cluster")
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
    @ConfigDescription("Name of the origin of this catalog: cache workers read its files with etc/origins/<name>.properties")
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
        this.sharedSecret = Optional.ofNullable(sharedSecret).filter(value -> !value.isBlank());
        return this;
    }

    @NotNull
    public Optional<Path> getSharedSecretFile()
    {
        return sharedSecretFile;
    }

    @Config("cachedhive.shared-secret-file")
    @ConfigDescription("File with the shared secret, and in a second line another valid secret during a rotation; read again when it changes")
    public CachedHiveConfig setSharedSecretFile(Path sharedSecretFile)
    {
        this.sharedSecretFile = Optional.ofNullable(sharedSecretFile);
        return this;
    }

    @NotNull
    @MinDataSize("1MB")
    public DataSize getChunkSize()
    {
        return chunkSize;
    }

    @Config("cachedhive.chunk-size")
    @ConfigDescription("Size of a chunk: an aligned range of a file that one cache worker owns")
    public CachedHiveConfig setChunkSize(DataSize chunkSize)
    {
        this.chunkSize = chunkSize;
        return this;
    }

    @AssertTrue(message = "cachedhive.chunk-size must be a multiple of 1MB")
    public boolean isChunkSizeOfWholeMegabytes()
    {
        return chunkSize.toBytes() % DataSize.of(1, MEGABYTE).toBytes() == 0;
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

    @DecimalMin("0.0")
    public double getMaxScanSkew()
    {
        return maxScanSkew;
    }

    @Config("cachedhive.max-scan-skew")
    @ConfigDescription("Fraction by which a node may exceed its share of the bytes of a scan; the session property max_scan_skew overrides it")
    public CachedHiveConfig setMaxScanSkew(double maxScanSkew)
    {
        this.maxScanSkew = maxScanSkew;
        return this;
    }

    public boolean isCrossZoneReads()
    {
        return crossZoneReads;
    }

    @Config("cachedhive.cross-zone-reads")
    @ConfigDescription("Read from owners in any zone; false makes each zone cache what its hosts read")
    public CachedHiveConfig setCrossZoneReads(boolean crossZoneReads)
    {
        this.crossZoneReads = crossZoneReads;
        return this;
    }

    @DecimalMin("0")
    @DecimalMax("1")
    public double getVerifySampleRatio()
    {
        return verifySampleRatio;
    }

    @Config("cachedhive.verify-sample-ratio")
    @ConfigDescription("Fraction of hits that are verified against the object store")
    public CachedHiveConfig setVerifySampleRatio(double verifySampleRatio)
    {
        this.verifySampleRatio = verifySampleRatio;
        return this;
    }

    @NotNull
    public Optional<HitVerification> getRamVerification()
    {
        return ramVerification;
    }

    @Config("cachedhive.ram-verification")
    @ConfigDescription("Hits in shared memory whose block is compared with its checksum")
    public CachedHiveConfig setRamVerification(HitVerification ramVerification)
    {
        this.ramVerification = Optional.ofNullable(ramVerification);
        return this;
    }

    @NotNull
    @MinDuration("0s")
    public Duration getGracePeriod()
    {
        return gracePeriod;
    }

    @Config("cachedhive.grace-period")
    @ConfigDescription("Time after which a silent cache worker loses its chunks")
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
    @ConfigDescription("Minimum fraction of hosts with a live cache worker for them to own all chunks; below it, the chunks of missing cache workers are read from the origin")
    public CachedHiveConfig setMinLiveShare(double minLiveShare)
    {
        this.minLiveShare = minLiveShare;
        return this;
    }

    @NotNull
    public Optional<@Pattern(regexp = IsolationDomain.NAME_PATTERN, message = "must be 1 to 64 letters, digits, '-', '_', '.'") String> getIsolationDomain()
    {
        return isolationDomain;
    }

    @Config("cachedhive.isolation-domain")
    @ConfigDescription("Name of the isolation domain: catalogs of one object store share cached bytes only in the same domain; by default the access key id or the IAM role")
    public CachedHiveConfig setIsolationDomain(String isolationDomain)
    {
        this.isolationDomain = Optional.ofNullable(isolationDomain);
        return this;
    }

    @AssertFalse(message = "cachedhive.isolation-domain and cachedhive.shared-permissions=true contradict each other: remove one of them")
    public boolean isDomainContradictory()
    {
        return sharedPermissions && isolationDomain.isPresent();
    }

    /**
     * Returns the isolation domain that the configuration sets. It is empty if the credentials of the catalog determine the domain.
     */
    public Optional<IsolationDomain> configuredDomain()
    {
        return sharedPermissions ? Optional.of(IsolationDomain.NONE) : isolationDomain.map(IsolationDomain::named);
    }

    @NotNull
    @MinDataSize("1MB")
    public DataSize getMaxWorkerWeight()
    {
        return maxWorkerWeight;
    }

    @Config("cachedhive.worker.max-weight")
    @ConfigDescription("Largest weight of a cache worker on the ring, whatever capacity it declares")
    public CachedHiveConfig setMaxWorkerWeight(DataSize maxWorkerWeight)
    {
        this.maxWorkerWeight = maxWorkerWeight;
        return this;
    }

    public boolean isSharedPermissions()
    {
        return sharedPermissions;
    }

    @Config("cachedhive.shared-permissions")
    @ConfigDescription("Share cached bytes with all catalogs of the same object store that do so, whatever their credentials. "
            + "Cache files even if the permissions of the origin depend on the user: every user who may read a table in Trino then reads bytes cached for other users")
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
    @ConfigDescription("Cache file: and local: locations; use only if all hosts see the same files")
    public CachedHiveConfig setCacheLocalFiles(boolean cacheLocalFiles)
    {
        this.cacheLocalFiles = cacheLocalFiles;
        return this;
    }

    public boolean isFetchAhead()
    {
        return fetchAhead;
    }

    @Config("cachedhive.fetch-ahead")
    @ConfigDescription("Announce files of at most 1MB to cache workers before a scan reads them, so that they prefetch the files")
    public CachedHiveConfig setFetchAhead(boolean fetchAhead)
    {
        this.fetchAhead = fetchAhead;
        return this;
    }

    @NotNull
    public Optional<String> getRulesFile()
    {
        return rulesFile;
    }

    @Config("cachedhive.rules-file")
    @ConfigDescription("JSON file on the coordinator with the caching rules; without it, everything is cached")
    public CachedHiveConfig setRulesFile(String rulesFile)
    {
        this.rulesFile = Optional.ofNullable(rulesFile);
        return this;
    }

    @NotNull
    @MinDuration("1ms")
    public Duration getRulesRefreshPeriod()
    {
        return rulesRefreshPeriod;
    }

    @Config("cachedhive.rules-refresh-period")
    @ConfigDescription("Interval for checking the rules file for changes while scans run")
    public CachedHiveConfig setRulesRefreshPeriod(Duration rulesRefreshPeriod)
    {
        this.rulesRefreshPeriod = rulesRefreshPeriod;
        return this;
    }

    @NotNull
    public Optional<AdminUsers> getAdminUsers()
    {
        return adminUsers;
    }

    @Config("cachedhive.admin-users")
    @ConfigDescription("Users and group:GROUP, separated by commas, that may call the procedures that set modes, rules and pins or flush")
    public CachedHiveConfig setAdminUsers(String adminUsers)
    {
        this.adminUsers = Optional.ofNullable(adminUsers).map(AdminUsers::parse);
        return this;
    }

    @AssertTrue(message = "cachedhive.admin-users has an empty name: separate the names of users and group:GROUP by single commas, or remove the property")
    public boolean isAdminUsersNamed()
    {
        return adminUsers.filter(AdminUsers::hasEmptyName).isEmpty();
    }
}
