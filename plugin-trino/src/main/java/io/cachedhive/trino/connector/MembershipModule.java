package io.cachedhive.trino.connector;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Provides;
import com.google.inject.Singleton;
import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.event.CacheEvents;
import io.cachedhive.plugin.membership.ClusterMembership;
import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.membership.SharedWorkerAdmin;
import io.cachedhive.plugin.membership.WorkerNotices;
import io.cachedhive.protocol.ring.PublishedRing;
import io.trino.spi.NodeManager;
import io.trino.spi.catalog.CatalogName;

import java.util.List;
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
    ClusterMembership createMembership(CatalogName catalog, CachedHiveConfig config, NodeManager nodeManager, SharedWorkerAdmin workerAdmin, CacheEvents events)
    {
        return ClusterMembership.start(
                catalog.toString(),
                () -> nodeManager.getWorkerNodes().stream().map(TrinoCluster::node).toList(),
                workerAdmin.get(),
                config.getWorkerPort(),
                config.getGracePeriod().toMillis(),
                config.getMinLiveShare(),
                config.getMaxWorkerWeight().toBytes(),
                events);
    }

    @Provides
    @Singleton
    WorkerNotices createWorkerNotices(CatalogName catalog, ClusterMembership membership, SharedWorkerAdmin workerAdmin)
    {
        return new WorkerNotices(catalog.toString(), membership, workerAdmin);
    }

    @Provides
    @Singleton
    Supplier<RingView> createRingView(ClusterMembership membership)
    {
        return membership::view;
    }

    @Provides
    @Singleton
    Supplier<List<Place>> createPlaces(ClusterMembership membership)
    {
        return membership::places;
    }

    @Provides
    @Singleton
    Supplier<Optional<PublishedRing>> createRing(ClusterMembership membership)
    {
        return membership::ring;
    }
}
