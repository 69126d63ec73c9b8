package io.cachedhive.worker;

import com.google.common.collect.ImmutableList;
import com.google.inject.CreationException;
import com.google.inject.Injector;
import com.google.inject.Module;
import com.google.inject.spi.Message;
import com.google.inject.util.Modules;
import io.airlift.bootstrap.ApplicationConfigurationException;
import io.airlift.bootstrap.Bootstrap;
import io.airlift.http.server.HttpServerModule;
import io.airlift.jaxrs.JaxrsModule;
import io.airlift.jmx.JmxModule;
import io.airlift.json.JsonModule;
import io.airlift.log.LogJmxModule;
import io.airlift.log.Logger;
import io.airlift.node.NodeModule;
import io.airlift.openmetrics.JmxOpenMetricsModule;
import io.airlift.openmetrics.OpenMetricsCollector;
import io.airlift.tracing.TracingModule;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.worker.http.WorkerMetricsCollector;
import io.cachedhive.worker.service.CacheWorkerService;
import io.cachedhive.worker.startup.StartupException;
import org.weakref.jmx.guice.MBeanModule;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.net.BindException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

import static com.google.common.base.Throwables.getCausalChain;
import static com.google.inject.Scopes.SINGLETON;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNullElse;

/**
 * The cache worker process.
 */
public final class CacheWorker
{
    private static final Logger log = Logger.get(CacheWorker.class);

    /**
     * The exit code that Trino uses too.
     */
    private static final int EXIT_CANNOT_START = 100;

    /**
     * By then a client has usually read blocks, so that the archive contains the classes that serve them.
     */
    private static final Duration CLASS_ARCHIVE_DELAY = Duration.ofSeconds(30);

    private CacheWorker() {}

    public static void main(String[] args)
    {
        run(StoreEnvironment.system(), _ -> {});
    }

    /**
     * Starts the worker that {@code -Dconfig} describes, which then runs until the process ends. If the worker cannot
     * start, this logs the problems and exits.
     *
     * @param environment the environment of the store; benchmarks may pass another one than {@link #main}
     * @param serving called as soon as blocks are served, which is before the HTTP server starts
     */
    public static void run(StoreEnvironment environment, Consumer<CacheWorkerService> serving)
    {
        CacheWorkerService opened = null;
        try {
            CacheWorkerModule worker = new CacheWorkerModule();
            Bootstrap bootstrap = bootstrap(worker);
            bootstrap.configure();
            // opened first, because the rest takes longer and readers do not need it
            CacheWorkerService service = CacheWorkerService.open(worker.settings(), environment);
            opened = service;
            // there is no life cycle manager yet that would close it
            Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().name("service-stop").unstarted(service::close));
            service.start();
            serving.accept(service);
            service.origins().connect();
            worker.setService(service);
            Injector injector = bootstrap.initialize();
            injector.getInstance(CacheWorkerService.class);
            // on a separate thread, because System.exit waits for the drain thread; started now, when there are threads
            Thread.ofPlatform().daemon().name("drained").start(() -> {
                service.drain().ended().join();
                System.exit(0);
            });
            log.info("======== CACHE WORKER STARTED ========");
            ClassArchive.makeAfter(CLASS_ARCHIVE_DELAY);
        }
        catch (Throwable e) {
            // releases what was allocated, in particular the socket file
            Optional.ofNullable(opened).ifPresent(CacheWorkerService::close);
            List<String> problems = problems(e);
            if (problems.isEmpty()) {
                log.error(e, "Cache worker cannot start");
            }
            problems.forEach(problem -> log.error("Cache worker cannot start: %s", problem));
            notifyLauncher(problems.isEmpty() ? ImmutableList.of(e.toString()) : problems);
            System.exit(EXIT_CANNOT_START);
        }
    }

    static Bootstrap bootstrap(CacheWorkerModule worker)
    {
        ImmutableList.Builder<Module> modules = ImmutableList.builder();
        modules.add(
                new NodeModule(),
                new HttpServerModule(),
                new JsonModule(),
                new JaxrsModule(),
                new JmxModule(),
                new MBeanModule(),
                new LogJmxModule(),
                new TracingModule("cache-worker", requireNonNullElse(CacheWorker.class.getPackage().getImplementationVersion(), "development")),
                Modules.override(new JmxOpenMetricsModule())
                        .with(binder -> binder.bind(OpenMetricsCollector.class).to(WorkerMetricsCollector.class).in(SINGLETON)),
                worker);
        return new Bootstrap("cache-worker", modules.build())
                .setOptionalConfigurationProperty("node.bind-ip", "127.0.0.1")
                .setOptionalConfigurationProperty("http-server.http.port", "8485");
    }

    /**
     * Returns the problems that the operator has to fix, one sentence each. Empty if the failure is not a configuration
     * problem.
     */
    static List<String> problems(Throwable failure)
    {
        String file = requireNonNullElse(System.getProperty("config"), "the configuration");
        List<Throwable> causes = causes(failure);
        for (Throwable cause : causes) {
            switch (cause) {
                case StartupException startup -> {
                    return ImmutableList.of(startup.getMessage());
                }
                case ApplicationConfigurationException configuration -> {
                    return configuration.getErrors().stream()
                            .map(Message::getMessage)
                            .map(message -> "%s or node.properties: %s".formatted(file, message.strip()))
                            .toList();
                }
                case BindException bind -> {
                    String address = causes.stream()
                            .map(Throwable::getMessage)
                            .filter(message -> message != null && message.startsWith("Failed to bind to "))
                            .map(message -> message.substring("Failed to bind to ".length()).replace("/", ""))
                            .findFirst()
                            .orElse("its address");
                    return ImmutableList.of(("http-server.http.port or http-server.https.port: cannot listen on %s (%s): "
                            + "stop what listens there, or choose another port or node.bind-ip in %s")
                            .formatted(address, bind.getMessage(), file));
                }
                default -> {}
            }
        }
        return ImmutableList.of();
    }

    /**
     * Returns all causes of a failure. A Guice exception may contain several failures, none of which is its cause.
     */
    private static List<Throwable> causes(Throwable failure)
    {
        ImmutableList.Builder<Throwable> causes = ImmutableList.builder();
        for (Throwable cause : getCausalChain(failure)) {
            causes.add(cause);
            if (cause instanceof CreationException creation) {
                creation.getErrorMessages().stream()
                        .map(Message::getCause)
                        .filter(Objects::nonNull)
                        .map(CacheWorker::causes)
                        .forEach(causes::addAll);
            }
        }
        return causes.build();
    }

    /**
     * Writes the problems to the standard error, which the launcher keeps, if the log is written to a file only.
     */
    private static void notifyLauncher(List<String> problems)
    {
        // bin/launcher sets this property for background processes
        if ("false".equals(System.getProperty("log.enable-console"))) {
            PrintStream error = new PrintStream(new FileOutputStream(FileDescriptor.err), true, UTF_8);
            problems.forEach(problem -> error.println("Cache worker cannot start: " + problem));
        }
    }
}
