package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.install.HostScripts;
import io.cachedhive.admin.ssh.RemoteScript;
import io.cachedhive.admin.task.TaskException;

import java.util.Locale;

/**
 * What is done with the process of a cache worker.
 */
enum ServiceAction
{
    START,
    /// Also gives up the restart of an upgrade or a rollback that did not come to its end.
    STOP;

    // a start allocates the RAM tier and the SSD files; a stop writes the checkpoint
    private static final int WAIT_SECONDS = 120;

    RemoteScript script(ClusterHost host, boolean dryRun)
            throws TaskException
    {
        return functions(host, dryRun).call(name().toLowerCase(Locale.ROOT));
    }

    /// Stops it only if it runs another release than the current one. Says `restart_pending` if it is to be started then, or since an earlier call, with the
    /// number of blocks to wait for.
    ///
    /// @param blocks that it has on SSD, 0 if that is not known
    static RemoteScript stopOutdated(ClusterHost host, long blocks, boolean dryRun)
            throws TaskException
    {
        return functions(host, dryRun).call("stop_outdated", Long.toString(blocks));
    }

    /// The restart that {@link #stopOutdated} began has come to its end.
    static RemoteScript restarted(ClusterHost host)
            throws TaskException
    {
        return functions(host, false).call("restarted");
    }

    private static RemoteScript functions(ClusterHost host, boolean dryRun)
            throws TaskException
    {
        return HostScripts.script(host, "service.sh")
                .set("DRY_RUN", dryRun ? "yes" : "no")
                .set("WAIT_SECONDS", WAIT_SECONDS);
    }
}
