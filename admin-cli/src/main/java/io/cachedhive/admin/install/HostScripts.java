package io.cachedhive.admin.install;

import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.settings.HostFile;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.ssh.RemoteScript;
import io.cachedhive.admin.task.TaskException;

import java.util.List;
import java.util.Optional;

import static io.cachedhive.admin.ssh.RemoteScript.base64;

/**
 * The scripts with what they need to know of a host.
 */
public final class HostScripts
{
    private HostScripts() {}

    /// @param release whose files are to be verified there
    /// @param files whose digests are wanted
    /// @param targets `address:port` that are to be tried from there
    public static RemoteScript facts(ClusterHost host, Optional<String> release, List<HostFile> files, List<String> targets)
            throws TaskException
    {
        return script(host, "facts.sh")
                .set("RELEASE", release.orElse(""))
                .list("FILES", files.stream().map(HostFile::path).toList())
                .list("TARGETS", targets);
    }

    /// @param name of a resource with functions, behind those that all scripts use
    public static RemoteScript script(ClusterHost host, String name)
            throws TaskException
    {
        String bind = listenAddress(host);
        return RemoteScript.of("common.sh", name)
                .set("INSTALL", host.installDirectory())
                .set("JAVA_HOME_WANTED", host.javaHome().orElse(""))
                .set("RUN_AS", host.runAs())
                .set("OWN_USER", ClusterHost.OWN_USER)
                .set("SOCKET_GROUP", host.socketGroup().orElse(""))
                .set("OWN_SOCKET_GROUP", ClusterHost.OWN_SOCKET_GROUP)
                .set("TRINO_HOME", host.trinoHome().orElse(""))
                .set("TRINO_RUN_AS", host.trinoRunAs().orElse(""))
                .set("TRINO_ETC", host.trinoEtc())
                .set("PLUGIN_DIRECTORY", host.pluginDirectory())
                .set("SERVICE", host.service())
                .set("IS_WORKER", host.isWorker() ? "yes" : "no")
                .set("RAM_DIRECTORY", host.ramDirectory())
                .list("SSD_DIRECTORIES", host.ssd().stream().map(ClusterHost.SsdDirectory::path).toList())
                .set("SOCKET_PATH", host.socketPath())
                .set("WORKER_PORT", host.workerPort())
                .set("HTTP_PORT", host.httpPort())
                .set("LISTEN_ADDRESS", bind.equals("0.0.0.0") ? "127.0.0.1" : bind);
    }

    /// Calls that write the files, each where it differs.
    static void put(RemoteScript script, List<HostFile> files)
    {
        for (HostFile file : files) {
            script.call(file.reader() == HostFile.Reader.TRINO ? "put_trino" : "put_owned", file.path(), base64(file.content()));
        }
    }

    static String socketDirectory(ClusterHost host)
    {
        return host.socketPath().substring(0, Math.max(1, host.socketPath().lastIndexOf('/')));
    }

    private static String listenAddress(ClusterHost host)
            throws TaskException
    {
        if (!host.isWorker()) {
            return "127.0.0.1";
        }
        try {
            return HostFiles.bindAddress(host);
        }
        catch (ClusterFileException e) {
            throw new TaskException(e.getMessage());
        }
    }
}
