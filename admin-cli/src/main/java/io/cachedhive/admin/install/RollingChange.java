package io.cachedhive.admin.install;

import com.fasterxml.jackson.databind.JsonNode;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Answered;
import io.cachedhive.admin.host.HostAnswer.Failed;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.task.TaskException;
import io.cachedhive.admin.worker.WorkerFields;

import javax.net.ssl.SSLContext;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Waits until a cache worker that was restarted is as useful as it was before, so that the next one may be taken.
 */
public final class RollingChange
{
    private static final Duration ASK_TIMEOUT = Duration.ofSeconds(5);
    private static final long PAUSE_MILLIS = 500;
    /// Of the blocks on SSD before: the rest may have been evicted or have expired.
    private static final double WARM_SHARE = 0.9;

    private final Optional<String> secret;
    private final SSLContext tls;
    private final Duration patience;

    /// @param patience for each host
    public RollingChange(Optional<String> secret, SSLContext tls, Duration patience)
    {
        this.tls = requireNonNull(tls, "tls is null");
        this.secret = requireNonNull(secret, "secret is null");
        this.patience = requireNonNull(patience, "patience is null");
    }

    /// @return blocks that the cache worker has on SSD now, 0 if it does not answer or is only on its way to them
    public long ssdBlocks(ClusterHost host)
    {
        if (ask(host) instanceof Answered answered && isRunning(answered.content())) {
            return WorkerFields.of(answered.content()).number("ssd_blocks").orElse(0);
        }
        return 0;
    }

    /// @param blocksBefore on SSD, before it was stopped
    /// @return blocks that were restored
    /// @throws TaskException if it is not back and warm within the time
    public long awaitWarm(ClusterHost host, long blocksBefore)
            throws TaskException
    {
        long deadline = System.nanoTime() + patience.toNanos();
        String last = "it did not answer";
        while (System.nanoTime() < deadline) {
            switch (ask(host)) {
                case Failed failed -> last = failed.problem();
                case Answered answered -> {
                    if (isWarm(answered.content(), blocksBefore)) {
                        return WorkerFields.of(answered.content()).number("restored_blocks").orElse(0);
                    }
                    WorkerFields fields = WorkerFields.of(answered.content());
                    last = "it is %s with %s of %s blocks".formatted(fields.text("state").orElse("?"), fields.number("restored_blocks").orElse(0), blocksBefore);
                }
            }
            try {
                Thread.sleep(PAUSE_MILLIS);
            }
            catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                throw new TaskException("%s: interrupted: see cache-admin status, and run the command again.".formatted(host));
            }
        }
        throw new TaskException(("%s: the cache worker did not restart and restore its blocks within %s s (%s): "
                + "check its log (cache-admin logs --hosts %s) and run the command again, "
                + "or go back with cache-admin rollback; if only its blocks are lost, cache-admin restart --hosts %s lets the next run go on without them.")
                .formatted(host, patience.toSeconds(), last, host, host));
    }

    static boolean isWarm(JsonNode status, long blocksBefore)
    {
        return isRunning(status) && WorkerFields.of(status).number("restored_blocks").orElse(0) >= (long) (blocksBefore * WARM_SHARE);
    }

    private static boolean isRunning(JsonNode status)
    {
        return WorkerFields.of(status).text("state").equals(Optional.of("RUNNING"));
    }

    private HostAnswer ask(ClusterHost host)
    {
        try (WorkerHosts http = new WorkerHosts(List.of(host.http()), ASK_TIMEOUT, secret, tls)) {
            return http.ask("/v1/status", _ -> {}).getFirst();
        }
    }
}
