package io.cachedhive.attack;

import com.google.common.io.Resources;
import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Attack.Need;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.Client;
import io.cachedhive.attack.setting.HttpApi;
import io.cachedhive.attack.setting.OwnWorkers;
import io.cachedhive.attack.setting.ProductClient;
import io.cachedhive.attack.setting.Sample;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.testing.cluster.ClusterException;
import io.cachedhive.testing.cluster.home.Distribution;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * The program behind {@code bin/attack}: attacks on a cache worker, and a check that it refuses them and serves on.
 */
@Command(name = "bin/attack")
public final class AttackMain
{
    private static final int OK = 0;
    private static final int SUCCEEDED = 1;
    private static final int WRONG_USAGE = 2;
    private static final int CANNOT_RUN = 3;
    private static final String ALL = "all";
    private static final int DEFAULT_SECONDS = 60;
    private static final int MAX_SECONDS = 24 * 3600;
    private static final int MAX_CONNECTIONS = 20_000;

    @Parameters(arity = "0..1", paramLabel = "NAME")
    private String name;

    @Option(names = "--target", paramLabel = "HOST:PORT")
    private String target;

    @Option(names = "--http-port", paramLabel = "PORT")
    private Integer httpPort;

    @Option(names = "--secret-file", paramLabel = "FILE")
    private Path secretFile;

    @Option(names = "--socket", paramLabel = "PATH")
    private Path socket;

    @Option(names = "--seconds", paramLabel = "NUMBER")
    private Integer seconds;

    @Option(names = "--connections", paramLabel = "NUMBER")
    private Integer connections;

    @Option(names = "--processor-share", paramLabel = "NUMBER")
    private double processorShare = Pressure.SHORT.processorShare();

    @Option(names = "--list")
    private boolean list;

    @Option(names = {"-h", "--help"}, usageHelp = true)
    private boolean help;

    private final PrintStream out;
    private final PrintStream error;

    public AttackMain(PrintStream out, PrintStream error)
    {
        this.out = requireNonNull(out, "out is null");
        this.error = requireNonNull(error, "error is null");
    }

    public static void main(String[] args)
    {
        PrintStream out = new PrintStream(System.out, true, UTF_8);
        PrintStream error = new PrintStream(System.err, true, UTF_8);
        System.exit(new AttackMain(out, error).run(args));
    }

    /**
     * @param args of {@code bin/attack}
     * @return the exit code
     */
    public int run(String... args)
    {
        try {
            new CommandLine(this).parseArgs(args);
            if (help) {
                // bin/attack shows the same file without this program, which may not have been built
                out.print(Resources.toString(Resources.getResource("attack-usage.txt"), UTF_8));
                return OK;
            }
            if (list) {
                for (Attack attack : Attacks.all()) {
                    out.println("%-22s %s".formatted(attack.name(), attack.description()));
                }
                return OK;
            }
            return execute();
        }
        catch (CommandLine.ParameterException | UsageException e) {
            return fail(WRONG_USAGE, e.getMessage());
        }
        catch (ClusterException | IllegalStateException | IOException e) {
            return fail(CANNOT_RUN, e.getMessage());
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return fail(CANNOT_RUN, "interrupted");
        }
    }

    private static final class UsageException
            extends Exception
    {
        private UsageException(String message)
        {
            super(message);
        }
    }

    private int execute()
            throws UsageException, IOException, InterruptedException
    {
        List<Attack> attacks = attacks();
        Pressure pressure = pressure();
        if (target != null) {
            Target attacked = target();
            try {
                return attack(attacks, attacked, pressure);
            }
            finally {
                attacked.client().ifPresent(Client::close);
            }
        }
        if (httpPort != null || secretFile != null || socket != null) {
            throw new UsageException("--http-port, --secret-file and --socket describe a cache worker that is already running: name it with --target HOST:PORT");
        }
        Distribution distribution = Distribution.find();
        try (OwnWorkers workers = OwnWorkers.start(distribution); ProductClient client = new ProductClient(workers.secret())) {
            return attack(attacks, ownTarget(workers, client), pressure);
        }
    }

    static Target ownTarget(OwnWorkers workers, ProductClient client)
    {
        return Target.of(workers.first().home(), client, Optional.of(workers));
    }

    private List<Attack> attacks()
            throws UsageException
    {
        if (name == null) {
            throw new UsageException("name an attack, or all; --list shows the names");
        }
        if (name.equals(ALL)) {
            return Attacks.all();
        }
        return List.of(Attacks.named(name).orElseThrow(() -> new UsageException("unknown attack %s: --list shows the names".formatted(name))));
    }

    private Pressure pressure()
            throws UsageException
    {
        if (seconds != null && (seconds < 1 || seconds > MAX_SECONDS)) {
            throw new UsageException("--seconds must be between 1 and %s: %s".formatted(MAX_SECONDS, seconds));
        }
        if (connections != null && (connections < 1 || connections > MAX_CONNECTIONS)) {
            throw new UsageException("--connections must be between 1 and %s: %s".formatted(MAX_CONNECTIONS, connections));
        }
        if (!(processorShare > 0 && processorShare <= 1)) {
            throw new UsageException("--processor-share must be above 0 and at most 1: " + processorShare);
        }
        boolean isShort = name.equals(ALL);
        Duration duration = seconds != null ? Duration.ofSeconds(seconds) : isShort ? Pressure.SHORT.duration() : Duration.ofSeconds(DEFAULT_SECONDS);
        OptionalInt count = connections != null ? OptionalInt.of(connections) : isShort ? Pressure.SHORT.connections() : OptionalInt.empty();
        return new Pressure(duration, count, processorShare);
    }

    private Target target()
            throws UsageException, IOException
    {
        int colon = target.lastIndexOf(':');
        WorkerAddress address;
        try {
            address = new WorkerAddress(target.substring(0, Math.max(0, colon)), Integer.parseInt(target.substring(colon + 1)));
        }
        catch (IllegalArgumentException _) {
            throw new UsageException("--target must be the host and the block port of a cache worker, such as 127.0.0.1:8484: " + target);
        }
        Optional<String> secret = Optional.empty();
        if (secretFile != null) {
            if (!Files.isReadable(secretFile)) {
                throw new UsageException("cannot read the file with the secret: " + secretFile);
            }
            // the first line is the preferred secret
            secret = Files.readAllLines(secretFile).stream().map(String::strip).filter(line -> !line.isEmpty()).findFirst();
            if (secret.isEmpty()) {
                throw new UsageException("the file with the secret is empty: " + secretFile);
            }
        }
        return new Target(
                address,
                Optional.ofNullable(httpPort).map(port -> new HttpApi(URI.create("http://%s:%s".formatted(address.host(), port)))),
                secret,
                Optional.ofNullable(socket),
                secret.map(ProductClient::new),
                Optional.empty(),
                Sample.of("sample"));
    }

    private int attack(List<Attack> attacks, Target attacked, Pressure pressure)
            throws UsageException, IOException, InterruptedException
    {
        AttackRunner runner = new AttackRunner(attacked, pressure);
        boolean all = attacks.size() > 1;
        boolean succeeded = false;
        List<Attack> made = new ArrayList<>();
        for (Attack attack : attacks) {
            List<Need> missing = runner.missing(attack);
            if (!missing.isEmpty()) {
                String needs = missing.stream().map(Need::text).collect(joining(" and "));
                if (!all) {
                    throw new UsageException("%s needs %s".formatted(attack.name(), needs));
                }
                out.println("%-22s skipped: needs %s".formatted(attack.name(), needs));
                continue;
            }
            long begin = System.nanoTime();
            Optional<String> success = runner.run(attack);
            double elapsed = (System.nanoTime() - begin) / 1e9;
            made.add(attack);
            succeeded |= success.isPresent();
            out.println("%-22s %s (%.1f s)".formatted(attack.name(), success.map(sentence -> "SUCCEEDED: " + sentence).orElse("refused"), elapsed));
        }
        Optional<String> left = runner.restart(made);
        left.ifPresent(sentence -> out.println("%-22s SUCCEEDED: %s".formatted("(restart)", sentence)));
        return succeeded || left.isPresent() ? SUCCEEDED : OK;
    }

    private int fail(int code, String message)
    {
        error.println("attack: " + (message == null ? "failed without a message" : message.strip()));
        return code;
    }
}
