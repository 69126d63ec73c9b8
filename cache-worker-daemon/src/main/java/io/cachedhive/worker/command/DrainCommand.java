package io.cachedhive.worker.command;

import io.airlift.units.Duration;
import io.cachedhive.protocol.security.SecretFile.InvalidSecretException;

import java.io.IOException;
import java.io.PrintStream;
import java.net.ConnectException;
import java.net.URISyntaxException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * {@code cache-worker drain}: drains the running cache worker that the configuration describes, and waits for its end.
 * It is for the preStop hook of a pod, which has the configuration and the shared secret of its cache worker.
 */
public final class DrainCommand
{
    static final int EXIT_DRAINED = 0;
    static final int EXIT_FAILED = 1;
    static final int EXIT_USAGE = 2;

    private static final Set<String> OPTIONS = Set.of("--address", "--deadline");
    private static final String PATH = "/v1/drain";
    private static final long POLL_MILLIS = 200;
    // the cache worker writes its checkpoint after the drain
    private static final long CHECKPOINT_SECONDS = 60;

    private DrainCommand() {}

    public static void main(String[] args)
    {
        String config = System.getProperty("config");
        if (config == null) {
            System.err.println("There is no config.properties of a cache worker: name its directory with --etc-dir.");
            System.exit(EXIT_USAGE);
        }
        System.exit(run(List.of(args), Path.of(config), System.getenv(), System.out, System.err));
    }

    static int run(List<String> args, Path config, Map<String, String> environment, PrintStream out, PrintStream err)
    {
        Map<String, String> options = new HashMap<>();
        for (int index = 0; index + 1 < args.size(); index += 2) {
            options.put(args.get(index), args.get(index + 1));
        }
        if (args.size() != 4 || !options.keySet().equals(OPTIONS)) {
            err.println("usage: cache-worker drain --address ADDRESS --deadline DURATION");
            return EXIT_USAGE;
        }
        Duration deadline;
        LocalWorker worker;
        try {
            deadline = Duration.valueOf(options.get("--deadline"));
            worker = LocalWorker.read(options.get("--address"), config, environment);
        }
        catch (IOException | URISyntaxException | InvalidSecretException | RuntimeException e) {
            err.printf("The cache worker cannot be drained (%s): correct the options or %s%n", e.getMessage(), config);
            return EXIT_USAGE;
        }
        try (worker) {
            return drain(worker, deadline, out, err);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return EXIT_FAILED;
        }
    }

    private static int drain(LocalWorker worker, Duration deadline, PrintStream out, PrintStream err)
            throws InterruptedException
    {
        String problem;
        try {
            HttpResponse<String> started = worker.send("POST", "%s?deadline=%sms".formatted(PATH, deadline.toMillis()));
            if (started.statusCode() != 200) {
                err.printf("%s refuses to drain (HTTP %s): %s%n", worker.authority(), started.statusCode(), started.body().strip());
                return EXIT_FAILED;
            }
            out.println(started.body().strip());
        }
        catch (IOException e) {
            err.printf("%s does not answer (%s): check that the cache worker runs, and that its HTTP API is not HTTPS only%n", worker.authority(), e);
            return EXIT_FAILED;
        }
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(deadline.toMillis()) + TimeUnit.SECONDS.toNanos(CHECKPOINT_SECONDS);
        do {
            Thread.sleep(POLL_MILLIS);
            try {
                problem = worker.send("GET", PATH).body().strip();
            }
            catch (ConnectException e) {
                // the process has closed its ports
                out.println("The cache worker has stopped.");
                return EXIT_DRAINED;
            }
            catch (IOException e) {
                problem = e.toString();
            }
        }
        while (System.nanoTime() - end < 0);
        err.printf("%s still runs after the deadline of the drain: %s%n", worker.authority(), problem);
        return EXIT_FAILED;
    }
}
