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
    STOP,
    /// Only if it runs another release than the current one.
    STOP_OUTDATED;

    // a start allocates the RAM tier and the SSD files; a stop writes the checkpoint
    private static final int WAIT_SECONDS = 120;

    RemoteScript script(ClusterHost host, boolean dryRun)
            throws TaskException
    {
        return HostScripts.script(host, "service.sh")
                .set("DRY_RUN", dryRun ? "yes" : "no")
                .set("WAIT_SECONDS", WAIT_SECONDS)
                .call(name().toLowerCase(Locale.ROOT));
    }
}
