package io.cachedhive.admin.install;

import io.cachedhive.admin.bundle.Bundle;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.fault.Fault;
import io.cachedhive.admin.settings.HostFile;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.ssh.RemoteResult;
import io.cachedhive.admin.ssh.RemoteScript;
import io.cachedhive.admin.ssh.Ssh;
import io.cachedhive.admin.task.TaskException;

import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

import static io.cachedhive.admin.ssh.RemoteScript.base64;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * Brings a release to hosts: looks first, changes only what differs, and keeps what was there for {@code uninstall}.
 */
public final class Installation
{
    private static final String MAIN_CLASS = "io.cachedhive.engine.CachedTrinoServer";
    private static final String RUNTIME_DIRECTORIES = "/run/";
    private static final String PLUGIN = "plugin";
    private static final String PLUGIN_ICEBERG = "plugin-iceberg";
    private static final String ENGINE_EXTENSION = "engine-extension";

    private final Ssh ssh;
    private final Bundle bundle;
    private final HostFiles files;
    private final boolean engineExtension;
    private final boolean dryRun;

    /// @param engineExtension also where it is not there yet; where it is, it always goes along
    public Installation(Ssh ssh, Bundle bundle, HostFiles files, boolean engineExtension, boolean dryRun)
    {
        this.ssh = requireNonNull(ssh, "ssh is null");
        this.bundle = requireNonNull(bundle, "bundle is null");
        this.files = requireNonNull(files, "files is null");
        this.engineExtension = engineExtension;
        this.dryRun = dryRun;
    }

    /// On this host for itself: from then on the release before is the way back, and older ones are gone.
    ///
    /// @return what was changed, or would be; nothing if all was as it should be
    /// @throws TaskException if the host does not have what is needed, before anything was changed, or if a step fails
    public List<String> install(ClusterHost host)
            throws TaskException
    {
        return bring(host, "finish");
    }

    /// As a step of many: the way back stays what it was until {@link #finish}, whatever is brought in between.
    ///
    /// @return as {@link #install}
    /// @throws TaskException as {@link #install}
    public List<String> upgrade(ClusterHost host)
            throws TaskException
    {
        return bring(host, "prune");
    }

    /// The upgrade is through on all hosts.
    ///
    /// @throws TaskException if the host cannot be reached, or releases cannot be removed
    public static void finish(Ssh ssh, ClusterHost host)
            throws TaskException
    {
        ssh.run(host, HostScripts.script(host, "install.sh").set("DRY_RUN", "no").call("finish"));
    }

    /// The host is back.
    ///
    /// @throws TaskException if the host cannot be reached, or may not be written
    public static void finishRollback(Ssh ssh, ClusterHost host)
            throws TaskException
    {
        ssh.run(host, HostScripts.script(host, "install.sh").set("DRY_RUN", "no").call("finish_rollback"));
    }

    private List<String> bring(ClusterHost host, String last)
            throws TaskException
    {
        List<HostFile> wanted = wanted(files, host);
        HostFacts facts = facts(ssh, host, Optional.of(bundle.release()), wanted, List.of());
        // its link must not stay behind on a release that is pruned some day: Trino would not start
        boolean engineExtension = this.engineExtension || facts.is("engine_extension");
        Set<String> parts = parts(host, engineExtension);
        boolean unpacked = isUnpacked(facts, parts);
        List<Fault> faults = HostChecks.check(host, facts, unpacked ? 0 : HostChecks.neededBytes(bundle.bytes()));
        if (!faults.isEmpty()) {
            // each begins with the host's name
            throw new TaskException(host + ": " + faults.stream().map(fault -> fault.sentence().substring(host.name().length() + 2)).collect(joining(" ")));
        }

        List<String> changes = new ArrayList<>(run(host, script(host).call("prepare")));
        RemoteScript script = script(host);
        if (!unpacked) {
            unpack(host, parts, script);
        }
        if (host.isWorker()) {
            script.call("users");
            for (ClusterHost.SsdDirectory directory : host.ssd()) {
                script.call("data_directory", directory.path(), "0750");
            }
            script.call("data_directory", host.installDirectory() + "/data", "0750");
            script.call("socket_directory", HostScripts.socketDirectory(host));
            script.call("unit", bundle.release(), base64(systemdDropIn(host)));
        }
        HostScripts.put(script, wanted);
        script.call("use_release", bundle.release());
        if (host.trinoHome().isPresent()) {
            linkTrino(script, host, bundle.release(), files.hasIcebergCatalog(), engineExtension);
        }
        script.call(last);
        changes.addAll(run(host, script));
        return changes;
    }

    /// Whether the release that was asked for is whole there, with these parts.
    static boolean isUnpacked(HostFacts facts, Set<String> parts)
    {
        return facts.text("release").equals(Optional.of("intact"))
                && Set.of(facts.text("release_parts").orElse("").split(" ")).containsAll(parts);
    }

    /// Sends the package, and lets the script unpack it.
    void unpack(ClusterHost host, Set<String> parts, RemoteScript script)
            throws TaskException
    {
        if (!dryRun) {
            run(host, script(host).call("run", "mkdir", "-p", host.installDirectory() + "/incoming", host.installDirectory() + "/releases"));
            ssh.send(host, bundle.file(), host.installDirectory() + "/incoming/package.tar.gz");
        }
        List<String> arguments = new ArrayList<>(List.of(bundle.release(), bundle.top(), bundle.digest()));
        arguments.addAll(parts);
        script.call("unpack", arguments.toArray(String[]::new));
    }

    /// Lets Trino use a release that is unpacked there.
    ///
    /// @param iceberg whether a catalog needs the plugin for Iceberg tables
    static void linkTrino(RemoteScript script, ClusterHost host, String release, boolean iceberg, boolean engineExtension)
    {
        script.call("link", host.pluginDirectory() + "/cachedhive", "%s/releases/%s/plugin".formatted(host.installDirectory(), release));
        if (iceberg) {
            script.call("link", host.pluginDirectory() + "/cachediceberg", "%s/releases/%s/%s".formatted(host.installDirectory(), release, PLUGIN_ICEBERG));
        }
        if (engineExtension) {
            script.call("link", host.trinoHome().orElseThrow() + "/lib/cachedhive-engine-extension.jar",
                    "%s/releases/%s/engine-extension/engine-extension-%s.jar".formatted(host.installDirectory(), release, Bundle.version(release)));
            script.call("main_class", MAIN_CLASS);
        }
    }

    public static HostFacts facts(Ssh ssh, ClusterHost host, Optional<String> release, List<HostFile> files, List<String> targets)
            throws TaskException
    {
        RemoteScript script = HostScripts.facts(host, release, files, targets);
        long sent = System.currentTimeMillis();
        RemoteResult result = ssh.run(host, script);
        return new HostFacts(result, sent, System.currentTimeMillis());
    }

    public static List<HostFile> wanted(HostFiles files, ClusterHost host)
            throws TaskException
    {
        try {
            return files.of(host);
        }
        catch (ClusterFileException e) {
            throw new TaskException(e.getMessage());
        }
    }

    /// Writes the host's files where they differ.
    ///
    /// @return what was changed, or would be
    public static List<String> pushFiles(Ssh ssh, ClusterHost host, HostFiles files, boolean dryRun)
            throws TaskException
    {
        return pushFiles(ssh, host, wanted(files, host), dryRun);
    }

    /// Writes files where they differ.
    ///
    /// @return what was changed, or would be
    public static List<String> pushFiles(Ssh ssh, ClusterHost host, List<HostFile> files, boolean dryRun)
            throws TaskException
    {
        RemoteScript script = HostScripts.script(host, "install.sh").set("DRY_RUN", dryRun ? "yes" : "no").call("require_record");
        HostScripts.put(script, files);
        return ssh.run(host, script).values("change");
    }

    /// @return contents by path, of those that exist
    public static Map<String, String> fetch(Ssh ssh, ClusterHost host, List<String> paths)
            throws TaskException
    {
        RemoteScript script = HostScripts.script(host, "service.sh").call("show_files", paths.toArray(String[]::new));
        Map<String, String> contents = new LinkedHashMap<>();
        ssh.run(host, script).facts().forEach((name, value) -> {
            if (name.startsWith("content:")) {
                contents.put(name.substring("content:".length()), new String(Base64.getDecoder().decode(value), UTF_8));
            }
        });
        return contents;
    }

    /// @param name server or launcher
    public static List<String> log(Ssh ssh, ClusterHost host, String name, int lines)
            throws TaskException
    {
        return ssh.run(host, HostScripts.script(host, "service.sh").call("show_log", name, Integer.toString(lines))).values("line");
    }

    /// Of the package, that the host needs.
    Set<String> parts(ClusterHost host, boolean engineExtension)
            throws TaskException
    {
        Set<String> parts = new TreeSet<>();
        if (host.isWorker()) {
            parts.add("worker");
        }
        if (host.trinoHome().isPresent()) {
            parts.add(PLUGIN);
            if (files.hasIcebergCatalog()) {
                // its links lead to the other one
                parts.add(PLUGIN_ICEBERG);
            }
            if (engineExtension) {
                parts.add(ENGINE_EXTENSION);
            }
        }
        if (parts.isEmpty()) {
            throw new TaskException("%s: there is nothing to install on a coordinator without trino-home: set trino-home in the hosts file.".formatted(host));
        }
        for (String part : parts) {
            if (!bundle.parts().contains(part)) {
                throw new TaskException("%s: the package %s has no %s/, which this host needs: get the whole package.".formatted(host, bundle.file().getFileName(), part));
            }
        }
        return parts;
    }

    private List<String> run(ClusterHost host, RemoteScript script)
            throws TaskException
    {
        return ssh.run(host, script).values("change");
    }

    private RemoteScript script(ClusterHost host)
            throws TaskException
    {
        return HostScripts.script(host, "install.sh").set("DRY_RUN", dryRun ? "yes" : "no");
    }

    /// What the unit of the packages cannot know: where everything is. The script fills in user, group and JDK. Paths need no quotes: the hosts file
    /// takes none with characters that mean something to systemd.
    static String systemdDropIn(ClusterHost host)
    {
        List<String> disks = host.ssd().stream().map(ClusterHost.SsdDirectory::path).toList();
        // systemd refuses to start a unit with a directory that is missing
        List<String> writable = new ArrayList<>(List.of(host.installDirectory() + "/data", "-" + host.ramDirectory()));
        writable.addAll(disks);
        String socketDirectory = HostScripts.socketDirectory(host);
        // /run is empty after a reboot, and systemd makes directories there in a safe way
        boolean runtimeDirectory = socketDirectory.startsWith(RUNTIME_DIRECTORIES);
        if (!runtimeDirectory) {
            writable.add(socketDirectory);
        }
        return """
                # Written by cache-admin: the next `cache-admin install` writes it again.
                [Unit]
                ConditionPathExists=
                ConditionPathExists=%1$s/etc/config.properties
                %5$s
                [Service]
                User=@RUN_AS@
                Group=@GROUP@
                WorkingDirectory=%1$s/data
                Environment=JAVA_HOME=@JAVA_HOME@
                ExecStartPre=
                ExecStart=
                # the log where the launcher has it without systemd, too; the journal has what is said before it
                ExecStart=%1$s/current/worker/bin/launcher -etc-dir %1$s/etc -data-dir %1$s/data -jvm-dir @JAVA_HOME@ -D log.path=%3$s -D log.enable-console=false run
                %6$sRuntimeDirectoryMode=0755
                ReadWritePaths=%2$s
                MemoryMax=%4$s
                """.formatted(
                host.installDirectory(),
                String.join(" ", writable),
                host.installDirectory() + "/data/var/log/server.log",
                // shared memory that the process touches first is counted as its own
                host.ram().bytes() + host.daemonBytes() + (256L << 20),
                disks.isEmpty() ? "" : "RequiresMountsFor=" + String.join(" ", disks) + "\n",
                runtimeDirectory ? "RuntimeDirectory=\nRuntimeDirectory=%s\n".formatted(socketDirectory.substring(RUNTIME_DIRECTORIES.length())) : "");
    }
}
