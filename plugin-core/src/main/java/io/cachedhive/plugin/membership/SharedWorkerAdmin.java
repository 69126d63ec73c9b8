package io.cachedhive.plugin.membership;

import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.transport.tls.Certificates;
import jakarta.annotation.PreDestroy;

import java.nio.file.Path;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The one {@link WorkerAdmin} of a catalog on this node, started when it is first needed.
 */
public final class SharedWorkerAdmin
{
    private final ClientIdentity identity;
    private final Path ownSocket;
    private final Timeouts timeouts;
    private WorkerAdmin workerAdmin;
    private boolean closed;

    /**
     * @param ownSocket the Unix socket of this host's cache worker
     */
    public SharedWorkerAdmin(ClientIdentity identity, Path ownSocket, Timeouts timeouts)
    {
        this.identity = requireNonNull(identity, "identity is null");
        this.ownSocket = requireNonNull(ownSocket, "ownSocket is null");
        this.timeouts = requireNonNull(timeouts, "timeouts is null");
    }

    /**
     * @throws IllegalStateException after the catalog was shut down
     */
    public synchronized WorkerAdmin get()
    {
        if (closed) {
            throw new IllegalStateException("the catalog is shut down");
        }
        if (workerAdmin == null) {
            workerAdmin = WorkerAdmin.start(identity, Optional.of(ownSocket), timeouts);
        }
        return workerAdmin;
    }

    /**
     * Returns what is wrong with the certificates of this Trino server and how to fix it, or empty if they are in order.
     */
    public Optional<String> certificateProblem()
    {
        return identity.certificates().flatMap(Certificates::problem);
    }

    @PreDestroy
    public synchronized void close()
    {
        closed = true;
        if (workerAdmin != null) {
            workerAdmin.close();
        }
    }
}
