package io.cachedhive.plugin.counters;

import com.google.inject.Inject;
import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.membership.ClusterNode;
import io.cachedhive.plugin.membership.SharedWorkerAdmin;
import io.cachedhive.plugin.membership.TrinoNodes;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.CounterNames;

import static java.util.Objects.requireNonNull;

/**
 * Asks the cache worker of this host what only it can know: how much it fetched beyond what clients asked for.
 */
public final class LocalExtraBytes
{
    private final SharedWorkerAdmin workerAdmin;
    private final WorkerAddress address;

    @Inject
    LocalExtraBytes(SharedWorkerAdmin workerAdmin, ClusterNode node, CachedHiveConfig config)
    {
        this.workerAdmin = requireNonNull(workerAdmin, "workerAdmin is null");
        this.address = new WorkerAddress(TrinoNodes.host(node), config.getWorkerPort());
    }

    /**
     * Waits for the answer for as long as a cache worker may stay silent.
     *
     * @return 0 if there is none
     */
    long get()
    {
        return workerAdmin.get().stats(address)
                .handle((stats, failure) -> failure == null ? stats.gauges().getOrDefault(CounterNames.EXTRA_BYTES, 0L) : 0L)
                .join();
    }
}
