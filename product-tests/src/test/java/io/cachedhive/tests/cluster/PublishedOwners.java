package io.cachedhive.tests.cluster;

import io.cachedhive.protocol.file.IsolationDomain;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.s3.S3Service;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import static io.cachedhive.testing.Await.QUERY_PAUSE;

/**
 * Who owns which file by the ring that is in force, computed here from its members.
 */
final class PublishedOwners
{
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private final List<RingMember> members;
    private final HashRing ring;
    private final Map<String, CacheWorkerId> idsByHost;
    private final OriginId origin;

    private PublishedOwners(List<RingMember> members, Map<String, CacheWorkerId> idsByHost, OriginId origin)
    {
        this.members = List.copyOf(members);
        this.ring = HashRing.of(members);
        this.idsByHost = idsByHost;
        this.origin = origin;
    }

    /**
     * Waits until the ring is of just these cache workers, and they answer and know it.
     */
    static PublishedOwners await(SqlConnection connection, S3Service s3, Collection<ClusterNode> cacheWorkers)
            throws Exception
    {
        return await(connection, "cachedhive", s3, cacheWorkers);
    }

    static PublishedOwners await(SqlConnection connection, String catalog, S3Service s3, Collection<ClusterNode> cacheWorkers)
            throws Exception
    {
        Set<String> hosts = cacheWorkers.stream().map(ClusterNode::address).collect(Collectors.toSet());
        OriginId origin = OriginId.of(
                "s3",
                Optional.ofNullable(s3.clientProperties().get("s3.endpoint")),
                Optional.ofNullable(s3.clientProperties().get("s3.region")),
                IsolationDomain.ofS3(s3.clientProperties()));
        return Await.untilPresent("a ring of %s".formatted(cacheWorkers), TIMEOUT, QUERY_PAUSE, () -> find(connection, catalog, hosts, origin));
    }

    private static Optional<PublishedOwners> find(SqlConnection connection, String catalog, Set<String> hosts, OriginId origin)
            throws Exception
    {
        List<RingMember> members = new ArrayList<>();
        Map<String, CacheWorkerId> idsByHost = new HashMap<>();
        Set<Object> epochs = new HashSet<>();
        for (List<Object> row : connection.query("SELECT node_id, weight, zone, address, epoch, state FROM %s.cache.nodes WHERE ring_share > 0".formatted(catalog)).rows()) {
            // one that no longer answers stays on the ring for a time, or for good if few would be left
            if (row.getFirst() == null || !row.get(5).equals("RUNNING")) {
                return Optional.empty();
            }
            CacheWorkerId id = new CacheWorkerId((String) row.getFirst());
            members.add(new RingMember(id, (long) row.get(1), Optional.ofNullable((String) row.get(2))));
            idsByHost.put(((String) row.get(3)).replaceFirst(":\\d+$", ""), id);
            epochs.add(row.get(4));
        }
        HashRing ring = HashRing.of(members);
        boolean known = idsByHost.keySet().equals(hosts) && epochs.equals(Set.of(ring.epoch().toString()));
        return known ? Optional.of(new PublishedOwners(members, idsByHost, origin)) : Optional.empty();
    }

    /**
     * The owner of a file that is no larger than a chunk.
     */
    CacheWorkerId owner(String location)
    {
        return ring.owner(new ChunkKey(ChunkKey.locationHash(origin, location), 0)).orElseThrow();
    }

    /**
     * As it was, or would be, without this one.
     */
    PublishedOwners without(ClusterNode cacheWorker)
    {
        return new PublishedOwners(members.stream().filter(member -> !member.id().equals(id(cacheWorker))).toList(), idsByHost, origin);
    }

    CacheWorkerId id(ClusterNode cacheWorker)
    {
        return idsByHost.get(cacheWorker.address());
    }

    double share(CacheWorkerId id)
    {
        return ring.share(id);
    }
}
