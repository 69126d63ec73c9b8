package io.cachedhive.worker.command;

import io.cachedhive.protocol.security.SecretFile.InvalidSecretException;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * {@code cache-worker status}: shows the status of the running cache worker that the configuration describes.
 */
public final class StatusCommand
{
    static final int EXIT_ANSWERED = 0;
    static final int EXIT_FAILED = 1;
    static final int EXIT_USAGE = 2;

    private static final String DEFAULT_ADDRESS = "127.0.0.1";

    private StatusCommand() {}

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
        if (!args.isEmpty() && !(args.size() == 2 && args.getFirst().equals("--address"))) {
            err.println("usage: cache-worker status [--address ADDRESS]");
            return EXIT_USAGE;
        }
        LocalWorker worker;
        try {
            worker = LocalWorker.read(args.isEmpty() ? DEFAULT_ADDRESS : args.getLast(), config, environment);
        }
        catch (IOException | URISyntaxException | InvalidSecretException | RuntimeException e) {
            err.printf("The status cannot be requested (%s): correct the options or %s%n", e.getMessage(), config);
            return EXIT_USAGE;
        }
        try (worker) {
            HttpResponse<String> status = worker.send("GET", "/v1/status");
            if (status.statusCode() != 200) {
                err.printf("%s refuses the request (HTTP %s): %s%n", worker.authority(), status.statusCode(), status.body().strip());
                return EXIT_FAILED;
            }
            out.println(status.body().strip());
            return EXIT_ANSWERED;
        }
        catch (IOException e) {
            err.printf("%s does not answer (%s): start the cache worker, name its node.bind-ip with --address, "
                    + "or use cache-admin status if its HTTP API is HTTPS only%n", worker.authority(), e);
            return EXIT_FAILED;
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return EXIT_FAILED;
        }
    }
}
