package io.cachedhive.plugin.connector;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Provides;
import com.google.inject.Singleton;
import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.membership.ClusterMembership;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.membership.SharedWorkerAdmin;
import io.cachedhive.protocol.ring.PublishedRing;
import io.trino.spi.NodeManager;
import io.trino.spi.catalog.CatalogName;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * For the coordinator.
 */
final class MembershipModule
        implements Module
{
    @Override
    public void configure(Binder binder) {}

    @Provides
    @Singleton
    ClusterMembership createMembership(CatalogName catalog, CachedHiveConfig config, NodeManager nodeManager, SharedWorkerAdmin workerAdmin)
    {
        return ClusterMembership.start(
                catalog.toString(),
                nodeManager::getWorkerNodes,
                workerAdmin.get(),
                config.getWorkerPort(),
                config.getGracePeriod().toMillis(),
                config.getMinLiveShare());
    }

    @Provides
    @Singleton
    Supplier<RingView> createRingView(ClusterMembership membership)
    {
        return membership::view;
    }

    @Provides
    @Singleton
    Supplier<Optional<PublishedRing>> createRing(ClusterMembership membership)
    {
        return membership::ring;
    }
}
