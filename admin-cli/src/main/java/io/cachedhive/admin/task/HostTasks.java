package io.cachedhive.admin.task;

import io.cachedhive.admin.cluster.ClusterHost;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import static java.util.Objects.requireNonNull;

/**
 * Does the same on many hosts at once, some at a time; what fails on one leaves the others alone, also a fault of this program.
 */
public final class HostTasks
{
    public interface Task
    {
        HostOutcome run(ClusterHost host)
                throws TaskException;
    }

    /// Told by one thread at a time.
    public interface Progress
    {
        /// @param running hosts that are being worked on
        void update(int done, int total, Set<String> running);

        void ended(HostOutcome outcome);

        /// For tasks that nobody asked for by themselves.
        Progress NONE = new Progress()
        {
            @Override
            public void update(int done, int total, Set<String> running) {}

            @Override
            public void ended(HostOutcome outcome) {}
        };
    }

    private final int parallel;
    private final Progress progress;

    public HostTasks(int parallel, Progress progress)
    {
        this.parallel = parallel;
        this.progress = requireNonNull(progress, "progress is null");
    }

    /// @return in the order of the hosts
    public List<HostOutcome> run(List<ClusterHost> hosts, Task task)
    {
        Set<String> running = new TreeSet<>();
        int[] done = {0};
        try (ExecutorService executor = Executors.newFixedThreadPool(parallel, Thread.ofPlatform().daemon().factory())) {
            List<CompletableFuture<HostOutcome>> outcomes = hosts.stream()
                    .map(host -> CompletableFuture.supplyAsync(() -> {
                        synchronized (done) {
                            running.add(host.name());
                            progress.update(done[0], hosts.size(), running);
                        }
                        HostOutcome outcome = attempt(host, task);
                        synchronized (done) {
                            running.remove(host.name());
                            done[0]++;
                            progress.ended(outcome);
                            progress.update(done[0], hosts.size(), running);
                        }
                        return outcome;
                    }, executor))
                    .toList();
            return outcomes.stream().map(CompletableFuture::join).toList();
        }
    }

    private static HostOutcome attempt(ClusterHost host, Task task)
    {
        try {
            return task.run(host);
        }
        catch (TaskException e) {
            return HostOutcome.failed(host, e.getMessage());
        }
        catch (RuntimeException | Error e) {
            // a fault of this program or its limits, which must not take what it knows of the other hosts with it
            return HostOutcome.failed(host, "%s: cache-admin failed with an internal error on this host (%s): report it, and exclude the host with --hosts until it is fixed."
                    .formatted(host, e.toString().lines().findFirst().orElse("")));
        }
    }
}
