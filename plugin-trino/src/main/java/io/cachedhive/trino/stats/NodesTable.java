package io.cachedhive.trino.stats;

import com.google.inject.Inject;
import io.cachedhive.plugin.membership.ClusterMembership;
import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.PlaceState;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.trino.table.CacheTable;

import java.util.List;

import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

final class NodesTable
        extends CacheTable<Place>
{
    private final ClusterMembership membership;

    @Inject
    NodesTable(ClusterMembership membership)
    {
        super(
                "nodes",
                "Hosts that have, or are expected to have, a cache worker",
                List.of(
                        Column.ofOptional("node_id", VARCHAR, "Cache worker id; NULL if no cache worker has ever answered on this host",
                                place -> place.worker().map(Object::toString)),
                        Column.of("address", VARCHAR, "Host and port of the cache worker", place -> place.address().toString()),
                        Column.ofOptional("version", VARCHAR, "Version of the cache worker", place -> place.lastPong().map(Pong::version)),
                        Column.ofOptional("epoch", VARCHAR, "Epoch of the newest ring that the cache worker has received",
                                place -> place.lastPong().map(pong -> pong.newestRing().toString())),
                        Column.of("weight", BIGINT, "Weight in the ring: capacity of the SSD tier, or of the RAM tier when there is no SSD", Place::weight),
                        Column.of("ring_share", DOUBLE, "Fraction of all chunks that the cache worker owns, 0 to 1", Place::ringShare),
                        Column.ofOptional("zone", VARCHAR, "Zone of the cache worker", Place::zone),
                        Column.ofOptional("uptime_seconds", DOUBLE, "Seconds since the cache worker started",
                                place -> place.lastPong().map(pong -> pong.uptimeMillis() / 1000.0)),
                        Column.ofOptional("restored_blocks", BIGINT, "Blocks restored when the cache worker started", place -> place.lastPong().map(Pong::restoredBlocks)),
                        Column.of("state", VARCHAR, "RUNNING, DRAINING, STOPPING, or UNREACHABLE", NodesTable::state)));
        this.membership = requireNonNull(membership, "membership is null");
    }

    @Override
    protected List<Place> rows()
    {
        return membership.places();
    }

    private static String state(Place place)
    {
        if (place.state() != PlaceState.ANSWERING) {
            return "UNREACHABLE";
        }
        return place.lastPong().map(Pong::state).orElseThrow();
    }
}
