package io.cachedhive.worker;

import com.google.inject.Binder;
import com.google.inject.Provides;
import com.google.inject.Singleton;
import io.airlift.configuration.AbstractConfigurationAwareModule;
import io.airlift.configuration.ConfigurationFactory;
import io.airlift.http.server.HttpServer.ClientCertificate;
import io.airlift.http.server.HttpServerConfig;
import io.airlift.http.server.HttpsConfig;
import io.airlift.node.NodeConfig;
import io.cachedhive.protocol.security.HttpChallenges;
import io.cachedhive.protocol.security.SecretFile.InvalidSecretException;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.security.SharedSecret;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.transport.tls.CertificateName.Role;
import io.cachedhive.transport.tls.Certificates;
import io.cachedhive.transport.tls.Certificates.InvalidCertificatesException;
import io.cachedhive.worker.fetch.FetchConfig;
import io.cachedhive.worker.http.AccessFilter;
import io.cachedhive.worker.http.DrainAnswerFilter;
import io.cachedhive.worker.http.DrainResource;
import io.cachedhive.worker.http.HealthResource;
import io.cachedhive.worker.http.HttpAccess;
import io.cachedhive.worker.http.MetricsConfig;
import io.cachedhive.worker.http.MetricsConfig.Authentication;
import io.cachedhive.worker.http.MetricsToken;
import io.cachedhive.worker.http.SsdFormatResource;
import io.cachedhive.worker.http.StatusResource;
import io.cachedhive.worker.http.WorkerMetrics;
import io.cachedhive.worker.http.WorkerMetricsBean;
import io.cachedhive.worker.origin.OriginsConfig;
import io.cachedhive.worker.server.SocketAccess;
import io.cachedhive.worker.server.TlsMode;
import io.cachedhive.worker.service.CacheWorkerService;
import io.cachedhive.worker.service.WorkerSettings;
import io.cachedhive.worker.startup.StartupException;
import io.cachedhive.worker.storage.EncryptionConfig;
import io.cachedhive.worker.storage.RamConfig;
import io.cachedhive.worker.storage.SsdConfig;
import jakarta.servlet.Filter;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.Optional;

import static com.google.inject.Scopes.SINGLETON;
import static com.google.inject.multibindings.Multibinder.newSetBinder;
import static com.google.inject.multibindings.OptionalBinder.newOptionalBinder;
import static io.airlift.configuration.ConfigBinder.configBinder;
import static io.airlift.jaxrs.JaxrsBinder.jaxrsBinder;
import static java.lang.Math.toIntExact;
import static java.util.Objects.requireNonNullElseGet;

public class CacheWorkerModule
        extends AbstractConfigurationAwareModule
{
    private ConfigurationFactory configuration;
    private Optional<CacheWorkerService> service = Optional.empty();

    @Override
    public synchronized void setConfigurationFactory(ConfigurationFactory configurationFactory)
    {
        super.setConfigurationFactory(configurationFactory);
        configuration = configurationFactory;
    }

    /**
     * Builds the settings from the validated configuration.
     */
    WorkerSettings settings()
    {
        return settings(
                configuration.build(CacheWorkerConfig.class),
                configuration.build(BlockPortTlsConfig.class),
                configuration.build(RamConfig.class),
                configuration.build(SsdConfig.class),
                configuration.build(EncryptionConfig.class),
                configuration.build(OriginsConfig.class),
                configuration.build(FetchConfig.class),
                configuration.build(NodeConfig.class));
    }

    /**
     * Sets the service that the other components use. Call it before the injector is created.
     */
    void setService(CacheWorkerService service)
    {
        this.service = Optional.of(service);
    }

    @Override
    protected void setup(Binder binder)
    {
        configBinder(binder).bindConfig(CacheWorkerConfig.class);
        configBinder(binder).bindConfig(BlockPortTlsConfig.class);
        configBinder(binder).bindConfig(RamConfig.class);
        configBinder(binder).bindConfig(SsdConfig.class);
        configBinder(binder).bindConfig(EncryptionConfig.class);
        configBinder(binder).bindConfig(OriginsConfig.class);
        configBinder(binder).bindConfig(FetchConfig.class);

        // validated with the rest of the configuration, before any socket is opened
        NodeConfig node = buildConfigObject(NodeConfig.class);
        CacheWorkerConfig config = buildConfigObject(CacheWorkerConfig.class);
        try {
            Secrets secrets = secrets(config);
            if (node.getNodeBindIp() != null) {
                WorkerSettings.requireSecretForStrangers(node.getNodeBindIp(), secrets);
            }
        }
        catch (StartupException e) {
            binder.addError(e.getMessage().replace("%", "%%"));
        }

        configBinder(binder).bindConfig(MetricsConfig.class);
        MetricsConfig metrics = buildConfigObject(MetricsConfig.class);
        if (metrics.getAuthentication() == Authentication.REQUIRED && metrics.getBearerTokenFile().isEmpty()
                && config.getSharedSecret().isEmpty() && config.getSharedSecretFile().isEmpty()) {
            binder.addError("cache.metrics.authentication=REQUIRED needs a token or a shared secret to read /metrics: "
                    + "set cache.metrics.bearer-token-file or internal-communication.shared-secret");
        }
        metrics.getBearerTokenFile()
                .flatMap(file -> new MetricsToken(file).problem())
                .ifPresent(problem -> binder.addError(problem.replace("%", "%%")));

        // with a truststore, only clients with a certificate that it trusts reach the API
        HttpServerConfig server = buildConfigObject(HttpServerConfig.class);
        if (server.isHttpsEnabled() && buildConfigObject(HttpsConfig.class).getTrustStorePath() != null) {
            newOptionalBinder(binder, ClientCertificate.class).setBinding().toInstance(ClientCertificate.REQUIRED);
        }

        jaxrsBinder(binder).bind(StatusResource.class);
        jaxrsBinder(binder).bind(HealthResource.class);
        jaxrsBinder(binder).bind(DrainResource.class);
        jaxrsBinder(binder).bind(SsdFormatResource.class);
        jaxrsBinder(binder).bind(AccessFilter.class);
        newSetBinder(binder, Filter.class).addBinding().to(DrainAnswerFilter.class).in(SINGLETON);
        binder.bind(WorkerMetrics.class).in(SINGLETON);
        binder.bind(WorkerMetricsBean.class).in(SINGLETON);
    }

    @Provides
    @Singleton
    static WorkerSettings settings(
            CacheWorkerConfig config,
            BlockPortTlsConfig tls,
            RamConfig ram,
            SsdConfig ssd,
            EncryptionConfig encryption,
            OriginsConfig origins,
            FetchConfig fetch,
            NodeConfig node)
    {
        StoreConfig store = StoreConfig.ramOnly(config.getStateDirectory().toAbsolutePath().normalize())
                .withRam(ram.getDirectory().toAbsolutePath().normalize(), ram.getMaxSize().toBytes())
                .withGuestMaxShare(ram.getGuestMaxShare())
                .withPinnedMaxShare(config.getPinnedMaxShare())
                .withSharedGroup(config.getSocketGroup())
                .withBlockSize(toIntExact(config.getBlockSize().toBytes()))
                .withTtl(config.getTtl().toJavaTime())
                .withSsdDirectories(ssd.toDirectoryConfigs())
                .withEncryptionKey(encryption.toKeySource());
        String version = CacheWorker.class.getPackage().getImplementationVersion();
        return new WorkerSettings(
                // the default of airlift
                requireNonNullElseGet(node.getNodeBindIp(), () -> new InetSocketAddress(0).getAddress()),
                config.getPort(),
                config.getSocketPath(),
                new SocketAccess(config.getSocketGroup(), config.getSocketUsers()),
                secrets(config),
                config.getTls(),
                config.getZone(),
                store,
                origins.getDirectory(),
                toIntExact(fetch.getMaxRangeSize().toBytes()),
                fetch.getMaxRequestsPerBucket(),
                fetch.getMaxPreloadRequests(),
                WorkerSettings.DEFAULT_PEER_SILENCE,
                version == null ? "development" : version)
                .withCertificates(certificates(tls, config));
    }

    /**
     * Returns the certificates of the operator, if the configuration names them.
     *
     * @throws StartupException if they cannot be used
     */
    private static Optional<Certificates> certificates(BlockPortTlsConfig tls, CacheWorkerConfig config)
    {
        if (tls.truststore().isPresent() && config.getTls() == TlsMode.ALLOWED) {
            throw new StartupException("cache.worker.tls=ALLOWED accepts peers without certificates, which internal-communication.https.truststore.path requires: "
                    + "remove one of them");
        }
        try {
            return Certificates.configured(Role.WORKER, tls.keystore(), tls.truststore(), !secrets(config).isEmpty());
        }
        catch (InvalidCertificatesException e) {
            throw new StartupException(e.getMessage());
        }
    }

    private static Secrets secrets(CacheWorkerConfig config)
    {
        try {
            return SharedSecret.configured("internal-communication.shared-secret", config.getSharedSecret(), config.getSharedSecretFile());
        }
        catch (InvalidSecretException e) {
            throw new StartupException(e.getMessage());
        }
    }

    @Provides
    @Singleton
    CacheWorkerService service()
    {
        return service.orElseThrow();
    }

    @Provides
    @Singleton
    static HttpAccess httpAccess(WorkerSettings settings, MetricsConfig metrics, CacheWorkerService service)
    {
        return new HttpAccess(
                settings.secrets(),
                new HttpChallenges(service.store().workerId().value(), new SecureRandom(), System::nanoTime, System::currentTimeMillis),
                metrics.getAuthentication(),
                metrics.getBearerTokenFile().map(MetricsToken::new));
    }
}
