package io.cachedhive.admin.install;

import io.cachedhive.admin.cluster.ClusterHost;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Whether an upgrade is through, so that its way back may be given up: all cache workers run one release, the one that is installed.
 *
 * @param problems by host, a sentence with its remedy: why it is not through there
 */
public record FinalizePlan(Map<ClusterHost, String> problems)
{
    public FinalizePlan
    {
        problems = Map.copyOf(problems);
    }

    /// @param workers whose directories are meant
    /// @param found what was seen on them; those that cannot be asked are missing
    public static FinalizePlan of(List<ClusterHost> workers, Map<ClusterHost, HostFacts> found)
    {
        requireNonNull(found, "found is null");
        Optional<String> release = workers.stream()
                .filter(found::containsKey)
                .flatMap(worker -> found.get(worker).text("current").stream())
                .findFirst();
        Map<ClusterHost, String> problems = new LinkedHashMap<>();
        for (ClusterHost worker : workers) {
            HostFacts facts = found.get(worker);
            if (facts == null) {
                problems.put(worker, "%s: cannot be asked which release it runs: see cache-admin doctor --hosts %s.".formatted(worker, worker));
                continue;
            }
            Optional<String> current = facts.text("current");
            Optional<String> running = facts.text("running_release");
            if (current.isEmpty()) {
                problems.put(worker, "%s: nothing is installed in %s: run cache-admin install.".formatted(worker, worker.installDirectory()));
            }
            else if (!current.equals(release)) {
                problems.put(worker, "%s: release %s is installed there, and %s on others: end the upgrade first, with cache-admin upgrade --package."
                        .formatted(worker, current.get(), release.orElseThrow()));
            }
            else if (facts.text("pid").isEmpty()) {
                problems.put(worker, "%s: its cache worker does not run, and only it can do that: run cache-admin start --hosts %s.".formatted(worker, worker));
            }
            else if (!running.equals(current)) {
                problems.put(worker, "%s: its cache worker still runs release %s, and %s is installed: run cache-admin restart --hosts %s."
                        .formatted(worker, running.orElse("?"), current.get(), worker));
            }
        }
        return new FinalizePlan(problems);
    }
}
