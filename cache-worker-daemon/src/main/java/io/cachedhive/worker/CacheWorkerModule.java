package io.cachedhive.worker;

import com.google.inject.Binder;
import com.google.inject.Provides;
import com.google.inject.Singleton;
import io.airlift.configuration.AbstractConfigurationAwareModule;
import io.airlift.http.server.HttpServerInfo;
import io.airlift.node.NodeConfig;
import io.airlift.node.NodeInfo;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.store.StoreEnvironment;
import io.cachedhive.worker.fetch.FetchConfig;
import io.cachedhive.worker.http.AccessFilter;
import io.cachedhive.worker.http.HttpAccess;
import io.cachedhive.worker.http.StatusResource;
import io.cachedhive.worker.http.WorkerMetrics;
import io.cachedhive.worker.origin.OriginsConfig;
import io.cachedhive.worker.storage.RamConfig;
import io.cachedhive.worker.storage.SsdConfig;

import java.util.Optional;
import java.util.function.Consumer;

import static com.google.inject.Scopes.SINGLETON;
import static io.airlift.configuration.ConfigBinder.configBinder;
import static io.airlift.jaxrs.JaxrsBinder.jaxrsBinder;
import static java.lang.Math.toIntExact;
import static java.util.Objects.requireNonNull;
import static org.weakref.jmx.guice.ExportBinder.newExporter;

public class CacheWorkerModule
        extends AbstractConfigurationAwareModule
{
    private final StoreEnvironment environment;
    private final Consumer<CacheWorkerService> opened;
    private final Consumer<CacheWorkerService> serving;

    /**
     * @param environment of the store
     * @param opened is told of the service as soon as it has sockets and memory, so that they are given back if the rest cannot be made
     * @param serving is told of it as soon as it serves
     */
    public CacheWorkerModule(StoreEnvironment environment, Consumer<CacheWorkerService> opened, Consumer<CacheWorkerService> serving)
    {
        this.environment = requireNonNull(environment, "environment is null");
        this.opened = requireNonNull(opened, "opened is null");
        this.serving = requireNonNull(serving, "serving is null");
    }

    @Override
    protected void setup(Binder binder)
    {
        configBinder(binder).bindConfig(CacheWorkerConfig.class);
        configBinder(binder).bindConfig(RamConfig.class);
        configBinder(binder).bindConfig(SsdConfig.class);
        configBinder(binder).bindConfig(OriginsConfig.class);
        configBinder(binder).bindConfig(FetchConfig.class);

        // with all other problems of the configuration, and before anything listens
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
        jaxrsBinder(binder).bind(AccessFilter.class);
        binder.bind(WorkerMetrics.class).in(SINGLETON);
        newExporter(binder).export(WorkerMetrics.class).as("io.cachedhive.worker:name=CacheWorker");
    }

    @Provides
    @Singleton
    static WorkerSettings settings(CacheWorkerConfig config, RamConfig ram, SsdConfig ssd, OriginsConfig origins, FetchConfig fetch, NodeInfo node)
    {
        StoreConfig store = StoreConfig.ramOnly(config.getStateDirectory().toAbsolutePath().normalize())
                .withRam(ram.getDirectory().toAbsolutePath().normalize(), ram.getMaxSize().toBytes())
                .withSharedGroup(config.getSocketGroup())
                .withBlockSize(toIntExact(config.getBlockSize().toBytes()))
                .withTtl(config.getTtl().toJavaTime())
                .withSsdDirectories(ssd.toDirectoryConfigs());
        String version = CacheWorker.class.getPackage().getImplementationVersion();
        return new WorkerSettings(
                node.getBindIp(),
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
                version == null ? "development" : version);
    }

    /**
     * @param http here only so that its port is taken before memory and disk are
     */
    @Provides
    @Singleton
    CacheWorkerService service(WorkerSettings settings, HttpServerInfo http)
    {
        CacheWorkerService service = CacheWorkerService.open(settings, environment);
        opened.accept(service);
        // the HTTP server takes a second to start, and nobody who reads needs it
        service.start();
        serving.accept(service);
        return service;
    }

    @Provides
    @Singleton
    static HttpAccess httpAccess(WorkerSettings settings)
    {
        return new HttpAccess(settings.bindAddress().isLoopbackAddress() ? Optional.empty() : settings.sharedSecret());
    }
}
