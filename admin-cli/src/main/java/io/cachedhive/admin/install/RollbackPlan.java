package io.cachedhive.admin.install;

import io.cachedhive.admin.cluster.ClusterHost;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Where a rollback leads: to one release on all hosts. An upgrade that stopped has reached some of them only, so that the release before is another one
 * on those than on the rest.
 *
 * @param release empty if none is named, and no host has one before its current one
 * @param problems by host, a sentence with its remedy: why it cannot go there
 */
public record RollbackPlan(Optional<String> release, Map<ClusterHost, String> problems)
{
    public RollbackPlan
    {
        requireNonNull(release, "release is null");
        problems = Map.copyOf(problems);
    }

    /// @param hosts in the order of upgrades; the first of them that was upgraded, and not taken back since, says to which release, if nobody else does
    /// @param wanted by the operator
    public static RollbackPlan of(Map<ClusterHost, HostFacts> hosts, Optional<String> wanted)
    {
        Optional<String> release = wanted.or(() -> hosts.values().stream().flatMap(facts -> facts.text("previous").stream()).findFirst());
        Map<ClusterHost, String> problems = new LinkedHashMap<>();
        hosts.forEach((host, facts) -> {
            Optional<String> current = facts.text("current");
            List<String> releases = List.of(facts.text("releases").orElse("").strip().split(" +"));
            if (current.isEmpty()) {
                problems.put(host, "%s: nothing is installed in %s: run cache-admin install.".formatted(host, host.installDirectory()));
            }
            else if (release.isEmpty()) {
                problems.put(host, "%s: there is no release before the current one, %s: install the one that you want with cache-admin upgrade --package."
                        .formatted(host, current.get()));
            }
            else if (!current.equals(release) && !releases.contains(release.get())) {
                problems.put(host, "%s: release %s is not there any more (but %s): name one of these with --to, or bring it with cache-admin upgrade --package."
                        .formatted(host, release.get(), String.join(", ", releases)));
            }
        });
        return new RollbackPlan(release, problems);
    }
}
