package io.cachedhive.admin;

import io.cachedhive.admin.WorkerOptions.Selection;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Answered;
import io.cachedhive.admin.host.WorkerHost;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.output.Quantity;
import io.cachedhive.admin.output.TextTable;
import io.cachedhive.admin.task.TaskException;
import io.cachedhive.admin.worker.WorkerFields;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * What the cache workers are doing just now.
 */
@Command(
        name = "top",
        sortOptions = false,
        description = "Shows the bytes per second by source for each cache worker, refreshed until Ctrl-C.")
final class TopCommand
        implements Callable<Integer>
{
    private static final List<String> COUNTERS = List.of("ram_hit_bytes", "ssd_hit_bytes", "non_local_hit_bytes", "remote_read_bytes", "bypass_bytes");

    @Option(names = "--interval", paramLabel = "DURATION", defaultValue = "2s", description = "refresh interval (default: ${DEFAULT-VALUE})")
    private Duration interval;

    @Option(names = "--count", paramLabel = "N", description = "number of refreshes (default: until Ctrl-C)")
    private Integer count;

    @Mixin
    private WorkerOptions options;

    private final Console console;
    private final LongSupplier nanoTime;

    TopCommand(Console console)
    {
        this(console, System::nanoTime);
    }

    TopCommand(Console console, LongSupplier nanoTime)
    {
        this.console = requireNonNull(console, "console is null");
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException, TaskException
    {
        Selection selection = options.select(console);
        List<WorkerHost> workers = selection.hosts();
        boolean failed = false;
        try (WorkerHosts http = options.workers(workers, selection.secrets()::get, selection.tls())) {
            List<HostAnswer> before = http.ask("/v1/stats", _ -> {});
            long beforeNanos = nanoTime.getAsLong();
            for (int refresh = 0; count == null || refresh < count; refresh++) {
                try {
                    Thread.sleep(interval);
                }
                catch (InterruptedException _) {
                    Thread.currentThread().interrupt();
                    break;
                }
                List<HostAnswer> now = http.ask("/v1/stats", _ -> {});
                long nowNanos = nanoTime.getAsLong();
                failed |= now.stream().anyMatch(answer -> !(answer instanceof Answered));
                print(workers, before, now, (nowNanos - beforeNanos) / 1e9);
                before = now;
                beforeNanos = nowNanos;
            }
        }
        return failed ? ExitCode.HOST_FAILED : ExitCode.OK;
    }

    private void print(List<WorkerHost> workers, List<HostAnswer> before, List<HostAnswer> now, double seconds)
    {
        TextTable table = new TextTable(List.of("HOST", "RAM HITS/S", "SSD HITS/S", "NON-LOCAL/S", "REMOTE/S", "BYPASS/S"));
        for (int index = 0; index < workers.size(); index++) {
            List<String> cells = new ArrayList<>(List.of(workers.get(index).toString()));
            for (String counter : COUNTERS) {
                cells.add(Quantity.bytes(perSecond(before.get(index), now.get(index), counter, seconds)));
            }
            table.add(cells);
        }
        if (console.errorIsTerminal()) {
            // from the top of the screen, as top(1) does
            console.out().print("\033[H\033[2J");
        }
        table.print(console.out());
        console.out().flush();
    }

    /**
     * Empty if the host did not answer both times, has no such counter, or has lost its counts in between.
     */
    private static OptionalLong perSecond(HostAnswer before, HostAnswer now, String counter, double seconds)
    {
        OptionalLong old = total(before, counter);
        OptionalLong fresh = total(now, counter);
        if (old.isEmpty() || fresh.isEmpty() || fresh.getAsLong() < old.getAsLong()) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(Math.round((fresh.getAsLong() - old.getAsLong()) / seconds));
    }

    private static OptionalLong total(HostAnswer answer, String counter)
    {
        return answer instanceof Answered answered ? WorkerFields.of(answered.content()).number(counter) : OptionalLong.empty();
    }
}
