package io.cachedhive.plugin.membership;

import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import jakarta.annotation.PreDestroy;

import static java.util.Objects.requireNonNull;

/**
 * The one {@link WorkerAdmin} of a catalog on this node, started when it is first needed.
 */
public final class SharedWorkerAdmin
{
    private final ClientIdentity identity;
    private final Timeouts timeouts;
    private WorkerAdmin workerAdmin;
    private boolean closed;

    public SharedWorkerAdmin(ClientIdentity identity, Timeouts timeouts)
    {
        this.identity = requireNonNull(identity, "identity is null");
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
            workerAdmin = WorkerAdmin.start(identity, timeouts);
        }
        return workerAdmin;
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
