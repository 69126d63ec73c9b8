package io.cachedhive.chaos;

import com.google.common.io.Resources;
import io.cachedhive.chaos.fault.FaultRunner;
import io.cachedhive.chaos.schedule.FaultKind;
import io.cachedhive.testing.cluster.ClusterException;
import io.cachedhive.testing.cluster.home.Distribution;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * The program behind {@code bin/chaos}: queries on a whole cluster while everything fails, and a check of every result.
 * The report goes to the standard output, progress to the standard error.
 */
@Command(name = "bin/chaos")
public final class Chaos
{
    private static final int OK = 0;
    private static final int FAILED = 1;
    private static final int WRONG_USAGE = 2;
    private static final int CANNOT_RUN = 3;
    private static final double MOST_MINUTES = 24 * 60;

    @Option(names = "--minutes", paramLabel = "NUMBER")
    private double minutes = 10;

    @Option(names = "--seed", paramLabel = "NUMBER")
    private Long seed;

    @Option(names = "--faults", paramLabel = "KIND", split = ",")
    private List<String> faults = new ArrayList<>();

    @Option(names = "--clients", paramLabel = "COUNT")
    private int clients = 4;

    @Option(names = "--directory", paramLabel = "DIRECTORY")
    private Path directory;

    @Option(names = "--keep")
    private boolean keep;

    @Option(names = "--list")
    private boolean list;

    @Option(names = {"-h", "--help"}, usageHelp = true)
    private boolean help;

    private final PrintStream out;
    private final PrintStream error;

    public Chaos(PrintStream out, PrintStream error)
    {
        this.out = requireNonNull(out, "out is null");
        this.error = requireNonNull(error, "error is null");
    }

    public static void main(String[] args)
    {
        PrintStream out = new PrintStream(System.out, true, UTF_8);
        PrintStream error = new PrintStream(System.err, true, UTF_8);
        System.exit(new Chaos(out, error).run(args));
    }

    /**
     * @param args of {@code bin/chaos}
     * @return the exit code
     */
    public int run(String... args)
    {
        CommandLine command = new CommandLine(this);
        try {
            command.parseArgs(args);
            if (help) {
                // bin/chaos shows the same file without this program, which may not have been built
                out.print(Resources.toString(Resources.getResource("chaos-usage.txt"), UTF_8));
                return OK;
            }
            if (list) {
                for (FaultKind kind : FaultKind.values()) {
                    out.println("%-28s %s".formatted(kind.text(), kind.description()));
                }
                return OK;
            }
            if (!(minutes > 0 && minutes <= MOST_MINUTES)) {
                return fail(WRONG_USAGE, "--minutes must be above 0 and at most %.0f: %s".formatted(MOST_MINUTES, minutes));
            }
            if (clients < 1 || clients > 100) {
                return fail(WRONG_USAGE, "--clients must be between 1 and 100: " + clients);
            }
            return execute();
        }
        catch (CommandLine.ParameterException e) {
            return fail(WRONG_USAGE, e.getMessage());
        }
        catch (ClusterException | IllegalStateException e) {
            return fail(CANNOT_RUN, e.getMessage());
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return fail(CANNOT_RUN, "interrupted");
        }
        catch (Exception e) {
            e.printStackTrace(error);
            return fail(CANNOT_RUN, e.toString());
        }
    }

    private int execute()
            throws Exception
    {
        Set<FaultKind> kinds = EnumSet.allOf(FaultKind.class);
        if (!faults.isEmpty()) {
            try {
                kinds = EnumSet.copyOf(faults.stream().map(FaultKind::of).toList());
            }
            catch (IllegalArgumentException e) {
                return fail(WRONG_USAGE, e.getMessage());
            }
        }
        Map<FaultKind, String> impossible = FaultRunner.impossibleKinds();
        for (FaultKind kind : FaultKind.values()) {
            if (impossible.containsKey(kind) && kinds.remove(kind)) {
                out.println("%s is left out: %s".formatted(kind.text(), impossible.get(kind)));
            }
        }
        if (kinds.isEmpty()) {
            return fail(CANNOT_RUN, "this machine cannot cause any of the faults");
        }
        Distribution distribution = Distribution.find();
        if (!distribution.missing().isEmpty()) {
            return fail(CANNOT_RUN, "not built: %s; bin/chaos builds what is missing".formatted(
                    distribution.missing().stream().map(path -> distribution.root().relativize(path).toString()).collect(joining(", "))));
        }
        long drawnSeed = seed == null ? new Random().nextInt(1_000_000) : seed;
        Path path = (directory == null ? distribution.root().resolve(".chaos/seed-" + drawnSeed) : directory).toAbsolutePath().normalize();
        ChaosPlan plan = new ChaosPlan(drawnSeed, Duration.ofMillis((long) (minutes * 60_000)), kinds, clients, path, keep);
        return new ChaosRun(plan, distribution, out, error).run() ? OK : FAILED;
    }

    private int fail(int code, String message)
    {
        error.println("chaos: " + (message == null ? "failed without a message" : message.strip()));
        return code;
    }
}
