package io.cachedhive.admin;

import io.cachedhive.admin.WorkerOptions.Selection;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.host.WorkerHost;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.task.TaskException;
import io.cachedhive.admin.ui.ClusterMonitor;
import io.cachedhive.admin.ui.UiServer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

import static java.util.Objects.requireNonNull;

/**
 * Serves a web page with the state of the cache.
 */
@Command(
        name = "ui",
        sortOptions = false,
        description = "Serves a web page with the state of the cache on 127.0.0.1, until Ctrl-C.")
final class UiCommand
        implements Callable<Integer>
{
    @Option(names = "--port", paramLabel = "N", defaultValue = "0", description = "port of the page (default: a free one)")
    private int port;

    @Option(names = "--interval", paramLabel = "DURATION", defaultValue = "5s", description = "refresh interval (default: ${DEFAULT-VALUE})")
    private Duration interval;

    @Mixin
    private WorkerOptions options;

    private final Console console;

    UiCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException, TaskException
    {
        if (port < 0 || port > 65535) {
            throw new WrongUsageException("--port is %s: use a port from 1 to 65535, or 0 for a free one.".formatted(port));
        }
        Selection selection = options.select(console);
        AtomicReference<Map<WorkerHost, Optional<String>>> secrets = new AtomicReference<>(selection.secrets());
        // what there is to say about the hosts file has been printed by now
        Console silent = new Console(new PrintWriter(Writer.nullWriter()), new PrintWriter(Writer.nullWriter()), false);
        Runnable readSecrets = () -> {
            try {
                secrets.set(options.select(silent).secrets());
            }
            catch (ClusterFileException | TaskException _) {
                // the page shows that the hosts refuse the secret; the file may be valid, and Trino may answer, at the next time
            }
        };
        try (WorkerHosts http = options.workers(selection.hosts(), host -> secrets.get().getOrDefault(host, Optional.empty()), selection.tls());
                ClusterMonitor monitor = new ClusterMonitor(selection.hosts(), http, readSecrets, console::problem, interval, System::currentTimeMillis);
                UiServer server = UiServer.start(port, monitor::data)) {
            monitor.start();
            console.out().println(server.address());
            console.out().flush();
            console.line("Open this address in a browser on this machine. Keep it to yourself: it contains the token of the page. Press Ctrl-C to stop.");
            new CountDownLatch(1).await();
        }
        catch (IOException e) {
            throw new WrongUsageException("Port %s of 127.0.0.1 cannot be used (%s): choose another one with --port, or omit the option.".formatted(port, e.getMessage()));
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return ExitCode.OK;
    }
}
