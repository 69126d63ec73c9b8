package io.cachedhive.admin.install;

import io.cachedhive.admin.cluster.ClusterHost;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

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
                problems.put(host, "%s: there is no earlier release than the current one, %s: install the required release with cache-admin upgrade --package."
                        .formatted(host, current.get()));
            }
            else if (!current.equals(release) && !releases.contains(release.get())) {
                problems.put(host, "%s: release %s is not there any more (but %s): name one of these with --to, or bring it with cache-admin upgrade --package."
                        .formatted(host, release.get(), String.join(", ", releases)));
            }
            else if (!current.equals(release)) {
                unreadableDirectory(host, facts, release.get(), facts.number("release_format:" + release.get())).ifPresent(problem -> problems.put(host, problem));
            }
        });
        return new RollbackPlan(release, problems);
    }

    /// @param newestFormat that the release reads; nothing is known of packages that do not tell
    private static Optional<String> unreadableDirectory(ClusterHost host, HostFacts facts, String release, OptionalLong newestFormat)
    {
        for (int index = 0; index < host.ssd().size(); index++) {
            OptionalLong format = facts.number("ssd.%s.format".formatted(index));
            if (newestFormat.isPresent() && format.isPresent() && format.getAsLong() > newestFormat.getAsLong()) {
                return Optional.of(("%s: the upgrade was finalized: %s is in version %s of its format, release %s reads versions up to %s, and would begin with an empty cache: "
                        + "stay with this release, or, if the cache may be lost, bring that one with cache-admin upgrade --package.")
                        .formatted(host, host.ssd().get(index).path(), format.getAsLong(), release, newestFormat.getAsLong()));
            }
        }
        return Optional.empty();
    }
}
