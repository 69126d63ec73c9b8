package io.cachedhive.trino.connector;

import com.google.inject.Binder;
import com.google.inject.Provides;
import com.google.inject.Scopes;
import com.google.inject.Singleton;
import com.google.inject.TypeLiteral;
import io.airlift.configuration.AbstractConfigurationAwareModule;
import io.airlift.log.Logger;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.CacheClientConfig.Verification;
import io.cachedhive.plugin.ahead.FetchAhead;
import io.cachedhive.plugin.ahead.ScanAnnouncements.Announcer;
import io.cachedhive.plugin.client.NodeCacheClient;
import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.config.PricesConfig;
import io.cachedhive.plugin.config.WorkerTlsConfig;
import io.cachedhive.plugin.event.CacheEvents;
import io.cachedhive.plugin.membership.ClusterNode;
import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.membership.SharedWorkerAdmin;
import io.cachedhive.plugin.membership.TrinoNodes;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.plugin.origin.DomainRegistration;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.origin.FileOrigins.OriginRights;
import io.cachedhive.plugin.origin.SharedDomains;
import io.cachedhive.plugin.origin.Tombstones;
import io.cachedhive.plugin.release.DropFlushes;
import io.cachedhive.plugin.release.FileReleases;
import io.cachedhive.plugin.release.ReleaseTimer;
import io.cachedhive.plugin.rules.RuleRegistry;
import io.cachedhive.protocol.file.IsolationDomain;
import io.cachedhive.protocol.memory.HitVerification;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.security.SecretFile.InvalidSecretException;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.security.SharedSecret;
import io.cachedhive.rules.RulesException;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.transport.tls.CertificateName.Role;
import io.cachedhive.transport.tls.Certificates;
import io.cachedhive.transport.tls.Certificates.InvalidCertificatesException;
import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.cachedhive.trino.adapter.ScanFileSystems;
import io.cachedhive.trino.contents.ContentsModule;
import io.cachedhive.trino.event.EventModule;
import io.cachedhive.trino.filesystem.FileSystemCacheModule;
import io.cachedhive.trino.flush.FlushModule;
import io.cachedhive.trino.mode.SetCacheModeProcedure;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.cachedhive.trino.query.ScanReporter;
import io.cachedhive.trino.rules.RulesModule;
import io.cachedhive.trino.session.CacheSessionProperties;
import io.cachedhive.trino.stats.StatsModule;
import io.cachedhive.trino.table.ForCache;
import io.trino.plugin.base.session.SessionPropertiesProvider;
import io.trino.spi.Node;
import io.trino.spi.NodeManager;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.procedure.Procedure;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

import static com.google.inject.multibindings.Multibinder.newSetBinder;
import static io.airlift.configuration.ConfigBinder.configBinder;
import static java.util.Objects.requireNonNull;

/**
 * Binds the cache into a connector, whose own module binds {@link ConnectorAdapter} and {@link ScanFileSystems}.
 */
public final class CacheModule
        extends AbstractConfigurationAwareModule
{
    private static final Logger log = Logger.get(CacheModule.class);

    // a scan that has read none of it by then is in no hurry
    private static final long ANNOUNCEMENT_MILLIS = 60_000;
    // a cache worker searches all its files for those that were removed
    private static final long RELEASE_MILLIS = 60_000;

    private final String catalog;
    private final Map<String, String> properties;
    private final boolean coordinator;
    private final Optional<String> permissionsByUser;
    private final Timeouts timeouts;
    private Optional<Certificates> certificates = Optional.empty();

    /**
     * @param permissionsByUser why the catalog is not cached unless permissions are declared to be shared
     */
    public CacheModule(String catalog, Map<String, String> properties, boolean coordinator, Optional<String> permissionsByUser, Timeouts timeouts)
    {
        this.catalog = requireNonNull(catalog, "catalog is null");
        this.properties = Map.copyOf(properties);
        this.coordinator = coordinator;
        this.permissionsByUser = requireNonNull(permissionsByUser, "permissionsByUser is null");
        this.timeouts = requireNonNull(timeouts, "timeouts is null");
    }

    @Override
    protected void setup(Binder binder)
    {
        CachedHiveConfig config = buildConfigObject(CachedHiveConfig.class);
        // of workers as well: the catalog's file is the same on all nodes
        configBinder(binder).bindConfig(PricesConfig.class);

        configBinder(binder).bindConfig(WorkerTlsConfig.class);
        WorkerTlsConfig tls = buildConfigObject(WorkerTlsConfig.class);
        try {
            Secrets secrets = SharedSecret.configured("cachedhive.shared-secret", config.getSharedSecret(), config.getSharedSecretFile());
            binder.bind(Secrets.class).toInstance(secrets);
            certificates = Certificates.configured(Role.CLIENT, tls.keystore(), tls.truststore(), !secrets.isEmpty());
        }
        catch (InvalidSecretException | InvalidCertificatesException e) {
            binder.addError(e.getMessage().replace("%", "%%"));
        }
        install(new FileSystemCacheModule());
        newSetBinder(binder, SessionPropertiesProvider.class).addBinding().to(CacheSessionProperties.class).in(Scopes.SINGLETON);

        newSetBinder(binder, SystemTable.class, ForCache.class);
        install(new StatsModule(coordinator));
        if (coordinator) {
            CacheEvents events = new CacheEvents(InstantSource.system());
            install(new EventModule(events));
            install(new MembershipModule());
            binder.bind(ProcedureGuard.class).in(Scopes.SINGLETON);
            newSetBinder(binder, Procedure.class).addBinding().toProvider(SetCacheModeProcedure.class).in(Scopes.SINGLETON);
            install(new FlushModule());
            install(new ContentsModule());
            openRules(binder, config, events);
        }
        else {
            // only the coordinator plans
            binder.bind(new TypeLiteral<Supplier<RingView>>() {}).toInstance(() -> RingView.EMPTY);
            binder.bind(new TypeLiteral<Supplier<Optional<PublishedRing>>>() {}).toInstance(Optional::empty);
            binder.bind(new TypeLiteral<Supplier<List<Place>>>() {}).toInstance(List::of);
            binder.bind(RuleRegistry.class).toInstance(RuleRegistry.withoutFile(catalog));
        }
        binder.bind(ScanReporter.class).in(Scopes.SINGLETON);
        binder.bind(CacheServices.class).in(Scopes.SINGLETON);
    }

    /**
     * Here and not in a provider: so a broken file is told with all other errors of the configuration, and as plainly.
     */
    private void openRules(Binder binder, CachedHiveConfig config, CacheEvents events)
    {
        try {
            install(new RulesModule(RuleRegistry.open(
                    catalog,
                    config.getRulesFile().map(Path::of),
                    config.getRulesRefreshPeriod().toJavaTime(),
                    InstantSource.system(),
                    System::nanoTime,
                    events)));
        }
        catch (RulesException e) {
            binder.addError(e.getMessage().replace("%", "%%"));
        }
    }

    @Provides
    @Singleton
    CacheDecisions createCacheDecisions(CachedHiveConfig config, RuleRegistry rules)
    {
        Optional<String> problem = permissionsByUser.filter(_ -> !config.isSharedPermissions());
        problem.ifPresent(log::warn);
        return new CacheDecisions(catalog, config.getMode(), rules::mode, problem);
    }

    @Provides
    @Singleton
    FileOrigins createFileOrigins(CachedHiveConfig config)
    {
        return FileOrigins.of(config.getOrigin(), properties, config.configuredDomain(), config.isCacheLocalFiles());
    }

    @Provides
    @Singleton
    DomainRegistration createDomainRegistration(CatalogName catalog, Node node, FileOrigins origins, CacheDecisions decisions)
    {
        return new DomainRegistration(SharedDomains.ofThisProcess(), node.getNodeIdentifier(), catalog.toString(), origins, decisions.mayCache());
    }

    @Provides
    @Singleton
    Tombstones createTombstones(FileOrigins origins)
    {
        return new Tombstones(origins);
    }

    @Provides
    @Singleton
    ClientIdentity createClientIdentity(CachedHiveConfig config, Secrets secrets, CatalogName catalog, Node node, FileOrigins origins)
    {
        return new ClientIdentity(
                config.getClusterName(),
                catalog.toString(),
                node.getNodeIdentifier(),
                origins.origins(),
                secrets,
                config.getChunkSize().toBytes(),
                origins.rights().stream().findFirst().map(OriginRights::domain).orElse(IsolationDomain.NONE).description(),
                origins.clientOrigins(),
                certificates);
    }

    @Provides
    @Singleton
    ClusterNode createCurrentNode(Node node)
    {
        return TrinoCluster.node(node);
    }

    @Provides
    @Singleton
    SharedWorkerAdmin createWorkerAdmin(CachedHiveConfig config, ClientIdentity identity)
    {
        return new SharedWorkerAdmin(identity, Path.of(config.getWorkerSocketPath()), timeouts);
    }

    @Provides
    @Singleton
    FetchAhead createFetchAhead(CachedHiveConfig config, FileOrigins origins, Supplier<Optional<PublishedRing>> ring, SharedWorkerAdmin workerAdmin)
    {
        Optional<Announcer> announcer = Optional.empty();
        if (coordinator && config.isFetchAhead()) {
            announcer = Optional.of((worker, origin, scan, table, files, terms) ->
                    workerAdmin.get().fetchAhead(worker, origin, scan, table, files, terms, ANNOUNCEMENT_MILLIS));
        }
        return new FetchAhead(origins, config.getChunkSize().toBytes(), ring, announcer);
    }

    @Provides
    @Singleton
    ReleaseTimer createReleaseTimer(CatalogName catalog)
    {
        return new ReleaseTimer(catalog.toString());
    }

    @Provides
    @Singleton
    FileReleases createFileReleases(FileOrigins origins, Supplier<List<Place>> places, SharedWorkerAdmin workerAdmin, ReleaseTimer timer)
    {
        return new FileReleases(
                origins,
                places,
                (worker, origin, locations) -> workerAdmin.get().releaseFiles(worker, origin, locations, RELEASE_MILLIS),
                timer);
    }

    @Provides
    @Singleton
    DropFlushes createDropFlushes(Tombstones tombstones, Supplier<List<Place>> places, SharedWorkerAdmin workerAdmin, ReleaseTimer timer)
    {
        return new DropFlushes(
                tombstones,
                places,
                (worker, flushed) -> workerAdmin.get().flush(worker, flushed, false, RELEASE_MILLIS),
                timer);
    }

    @Provides
    @Singleton
    NodeCacheClient createCacheClient(
            CachedHiveConfig config,
            ClientIdentity identity,
            CacheDecisions decisions,
            Node node,
            NodeManager nodeManager,
            SharedWorkerAdmin workerAdmin)
    {
        WorkerAddress ownHost = new WorkerAddress(TrinoNodes.host(TrinoCluster.node(node)), config.getWorkerPort());
        NodeCacheClient client = new NodeCacheClient(new CacheClientConfig(
                Path.of(config.getWorkerSocketPath()),
                identity,
                config.getChunkSize().toBytes(),
                config.isCrossZoneReads())
                .withVerification(new Verification(config.getVerifySampleRatio(), config.getRamVerification().orElseGet(HitVerification::ofThisMachine)))
                .withTimeouts(timeouts),
                problem -> reportProblem(workerAdmin, ownHost, problem));
        if (decisions.mayCache() && (!coordinator || nodeManager.getWorkerNodes().contains(node))) {
            // a node that will read: the first query shall find the cache worker connected
            client.get();
        }
        return client;
    }

    /**
     * Reports why this node cannot use the cache worker of its host to that cache worker, over TCP: coordinators ask it.
     */
    private static void reportProblem(SharedWorkerAdmin workerAdmin, WorkerAddress address, String problem)
    {
        try {
            workerAdmin.get().reportProblem(address, problem)
                    .whenComplete((_, failure) -> log.debug("Reported to cache worker %s: %s (%s)", address, problem, failure));
        }
        catch (IllegalStateException _) {
            // the catalog is shut down
        }
    }
}
