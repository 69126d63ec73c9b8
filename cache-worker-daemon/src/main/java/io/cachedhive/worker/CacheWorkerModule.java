package io.cachedhive.worker;

import com.google.inject.Binder;
import com.google.inject.Provides;
import com.google.inject.Singleton;
import io.airlift.configuration.AbstractConfigurationAwareModule;
import io.airlift.configuration.ConfigurationFactory;
import io.airlift.node.NodeConfig;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.worker.fetch.FetchConfig;
import io.cachedhive.worker.http.AccessFilter;
import io.cachedhive.worker.http.DrainResource;
import io.cachedhive.worker.http.HttpAccess;
import io.cachedhive.worker.http.SsdFormatResource;
import io.cachedhive.worker.http.StatusResource;
import io.cachedhive.worker.http.WorkerMetrics;
import io.cachedhive.worker.http.WorkerMetricsBean;
import io.cachedhive.worker.origin.OriginsConfig;
import io.cachedhive.worker.service.CacheWorkerService;
import io.cachedhive.worker.service.WorkerSettings;
import io.cachedhive.worker.startup.StartupException;
import io.cachedhive.worker.storage.RamConfig;
import io.cachedhive.worker.storage.SsdConfig;

import java.net.InetSocketAddress;
import java.util.Optional;

import static com.google.inject.Scopes.SINGLETON;
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
                configuration.build(RamConfig.class),
                configuration.build(SsdConfig.class),
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
        configBinder(binder).bindConfig(RamConfig.class);
        configBinder(binder).bindConfig(SsdConfig.class);
        configBinder(binder).bindConfig(OriginsConfig.class);
        configBinder(binder).bindConfig(FetchConfig.class);

        // validated with the rest of the configuration, before any socket is opened
        NodeConfig node = buildConfigObject(NodeConfig.class);
        CacheWorkerConfig config = buildConfigObject(CacheWorkerConfig.class);
        if (node.getNodeBindIp() != null) {
            try {
                WorkerSettings.requireSecretForStrangers(node.getNodeBindIp(), config.getSharedSecret());
            }
            catch (StartupException e) {
                binder.addError(e.getMessage());
            }
        }

        jaxrsBinder(binder).bind(StatusResource.class);
        jaxrsBinder(binder).bind(DrainResource.class);
        jaxrsBinder(binder).bind(SsdFormatResource.class);
        jaxrsBinder(binder).bind(AccessFilter.class);
        binder.bind(WorkerMetrics.class).in(SINGLETON);
        binder.bind(WorkerMetricsBean.class).in(SINGLETON);
    }

    @Provides
    @Singleton
    static WorkerSettings settings(CacheWorkerConfig config, RamConfig ram, SsdConfig ssd, OriginsConfig origins, FetchConfig fetch, NodeConfig node)
    {
        StoreConfig store = StoreConfig.ramOnly(config.getStateDirectory().toAbsolutePath().normalize())
                .withRam(ram.getDirectory().toAbsolutePath().normalize(), ram.getMaxSize().toBytes())
                .withGuestMaxShare(ram.getGuestMaxShare())
                .withPinnedMaxShare(config.getPinnedMaxShare())
                .withSharedGroup(config.getSocketGroup())
                .withBlockSize(toIntExact(config.getBlockSize().toBytes()))
                .withTtl(config.getTtl().toJavaTime())
                .withSsdDirectories(ssd.toDirectoryConfigs());
        String version = CacheWorker.class.getPackage().getImplementationVersion();
        return new WorkerSettings(
                // the default of airlift
                requireNonNullElseGet(node.getNodeBindIp(), () -> new InetSocketAddress(0).getAddress()),
                config.getPort(),
                config.getSocketPath(),
                config.getSocketGroup(),
                config.getSharedSecret(),
                config.getZone(),
                store,
                origins.getDirectory(),
                toIntExact(fetch.getMaxRangeSize().toBytes()),
                fetch.getMaxRequestsPerBucket(),
                fetch.getMaxPreloadRequests(),
                WorkerSettings.DEFAULT_PEER_SILENCE,
                version == null ? "development" : version);
    }

    @Provides
    @Singleton
    CacheWorkerService service()
    {
        return service.orElseThrow();
    }

    @Provides
    @Singleton
    static HttpAccess httpAccess(WorkerSettings settings)
    {
        return new HttpAccess(settings.bindAddress().isLoopbackAddress() ? Optional.empty() : settings.sharedSecret());
    }
}
