package io.cachedhive.admin.install;

import io.cachedhive.admin.bundle.Bundle;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.fault.Fault;
import io.cachedhive.admin.settings.HostFile;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.ssh.RemoteResult;
import io.cachedhive.admin.ssh.RemoteScript;
import io.cachedhive.admin.ssh.Ssh;
import io.cachedhive.admin.task.TaskException;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * Brings plugin, server extension and catalogs to another Trino home of a host. The cache worker is not touched, and the former home keeps what it has.
 */
public final class TrinoHomeChange
{
    private final Ssh ssh;
    private final HostFiles files;
    private final Optional<Bundle> bundle;
    private final boolean engineExtension;
    private final boolean dryRun;

    /// What is to be done on a host, all of which was checked.
    ///
    /// @param host with the new home
    /// @param release for the Trino that is there
    /// @param unpacked whether the release is there already
    public record Plan(ClusterHost host, String release, boolean unpacked, boolean engineExtension)
    {
        public Plan
        {
            requireNonNull(host, "host is null");
            requireNonNull(release, "release is null");
        }
    }

    /// @param files by the hosts file with the new home
    /// @param bundle with the plugin; without one, a release that is installed on the host
    /// @param engineExtension also where the former home has none
    public TrinoHomeChange(Ssh ssh, HostFiles files, Optional<Bundle> bundle, boolean engineExtension, boolean dryRun)
    {
        this.ssh = requireNonNull(ssh, "ssh is null");
        this.files = requireNonNull(files, "files is null");
        this.bundle = requireNonNull(bundle, "bundle is null");
        this.engineExtension = engineExtension;
        this.dryRun = dryRun;
    }

    /// Changes nothing.
    ///
    /// @param former the host with the home that it has now
    /// @param host the host with the new home
    /// @throws TaskException if the host does not have what is needed
    public Plan plan(ClusterHost former, ClusterHost host)
            throws TaskException
    {
        String formerHome = former.trinoHome().orElseThrow();
        String home = host.trinoHome().orElseThrow();
        if (home.equals(formerHome)) {
            throw new TaskException("%s: trino-home is %s already: name the directory of another Trino installation with --trino-home.".formatted(host, home));
        }
        inFormerHome("plugin-directory", host.pluginDirectory(), host, formerHome);
        inFormerHome("trino-etc", host.trinoEtc(), host, formerHome);

        HostFacts facts = facts(host, formerHome, bundle.map(Bundle::release).orElse("@current"));
        if (facts.text("current").isEmpty()) {
            throw new TaskException("%s: nothing is installed in %s: write trino-home: %s into the hosts file, and run cache-admin install.".formatted(
                    host, host.installDirectory(), home));
        }
        if (facts.is("trino.is_former")) {
            throw new TaskException("%s: %s and %s, the trino-home of now, are the same directory: name the directory of another Trino installation with --trino-home."
                    .formatted(host, home, formerHome));
        }
        String release = bundle.map(Bundle::release).or(() -> installedRelease(facts)).orElse(facts.text("current").get());
        Optional<String> supported = bundle.isPresent() ? bundle.get().trinoVersion() : facts.text("release_trino:" + release);
        if (bundle.isEmpty() && facts.text("trino.version").isPresent() && !HostChecks.isSupported(facts.text("trino.version").get(), supported)) {
            throw new TaskException("%s: Trino in %s is %s, and the plugin of release %s is for %s: name the package of the release for Trino %s with --package.".formatted(
                    host, home, facts.text("trino.version").get(), release, supported.orElse("another version"), facts.text("trino.version").get()));
        }
        if (bundle.isPresent() && host.pluginDirectory().equals(former.pluginDirectory())) {
            throw new TaskException("%s: both Trino homes use the plugin-directory %s, which can have one release only: remove the setting from the hosts file, or omit --package."
                    .formatted(host, host.pluginDirectory()));
        }

        boolean extension = engineExtension || facts.is("former_engine_extension") || facts.is("engine_extension");
        boolean unpacked;
        if (bundle.isPresent()) {
            unpacked = Installation.isUnpacked(facts, installation().parts(host, extension));
        }
        else {
            Set<String> parts = new TreeSet<>(extension ? Set.of("plugin", "engine-extension") : Set.of("plugin"));
            if (files.hasIcebergCatalog()) {
                parts.add("plugin-iceberg");
            }
            HostFacts known = facts.text("current").equals(Optional.of(release)) ? facts : facts(host, formerHome, release);
            unpacked = Installation.isUnpacked(known, parts);
            if (!unpacked) {
                throw new TaskException("%s: files of release %s are changed or missing (%s are needed): name its package with --package.".formatted(
                        host, release, String.join(" and ", parts)));
            }
        }
        List<Fault> faults = supported.isPresent()
                ? HostChecks.check(host, facts, neededBytes(unpacked), supported.get())
                : HostChecks.check(host, facts, neededBytes(unpacked));
        if (!faults.isEmpty()) {
            // each begins with the host's name
            throw new TaskException(host + ": " + faults.stream().map(fault -> fault.sentence().substring(host.name().length() + 2)).collect(joining(" ")));
        }
        return new Plan(host, release, unpacked, extension);
    }

    /// @return what was changed, or would be
    /// @throws TaskException if a step fails
    public List<String> apply(Plan plan)
            throws TaskException
    {
        ClusterHost host = plan.host();
        List<HostFile> catalogs = Installation.wanted(files, host).stream().filter(file -> file.reader() == HostFile.Reader.TRINO).toList();
        RemoteScript script = HostScripts.script(host, "install.sh").set("DRY_RUN", dryRun ? "yes" : "no").call("require_record");
        if (!plan.unpacked()) {
            installation().unpack(host, installation().parts(host, plan.engineExtension()), script);
        }
        if (host.isWorker()) {
            // Trino may run as another user there
            script.call("users");
        }
        HostScripts.put(script, catalogs);
        Installation.linkTrino(script, host, plan.release(), files.hasIcebergCatalog(), plan.engineExtension());
        return ssh.run(host, script).values("change");
    }

    private Installation installation()
    {
        return new Installation(ssh, bundle.orElseThrow(), files, engineExtension, dryRun);
    }

    private long neededBytes(boolean unpacked)
    {
        return unpacked ? 0 : HostChecks.neededBytes(bundle.orElseThrow().bytes());
    }

    private HostFacts facts(ClusterHost host, String formerHome, String release)
            throws TaskException
    {
        RemoteScript script = HostScripts.facts(host, Optional.of(release), List.of(), List.of()).set("FORMER_TRINO_HOME", formerHome);
        long sent = System.currentTimeMillis();
        RemoteResult result = ssh.run(host, script);
        return new HostFacts(result, sent, System.currentTimeMillis());
    }

    /// For the Trino of the new home: the current one, else the one that the home has a link to from before, else the one before the current one.
    private static Optional<String> installedRelease(HostFacts facts)
    {
        Optional<String> linked = facts.text("plugin.target").map(target -> target.replaceFirst("/plugin$", "").replaceFirst("^.*/", ""));
        List<String> releases = List.of(facts.text("releases").orElse("").strip().split(" +"));
        return Stream.of(facts.text("current"), linked, facts.text("previous"))
                .flatMap(Optional::stream)
                .filter(releases::contains)
                .filter(release -> HostChecks.isSupported(facts.text("trino.version").orElse(""), facts.text("release_trino:" + release)))
                .findFirst();
    }

    private static void inFormerHome(String setting, String path, ClusterHost host, String formerHome)
            throws TaskException
    {
        if (path.startsWith(formerHome + "/")) {
            throw new TaskException("%s: %s is %s, which is in the trino-home of now, %s: remove it from the hosts file or correct it there.".formatted(
                    host, setting, path, formerHome));
        }
    }
}
