package io.cachedhive.benchmark.scans;

import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

import static java.util.Objects.requireNonNull;

/**
 * The ring that all cache workers know, computed here from its members.
 *
 * @param addresses of the members
 */
record ScanRing(HashRing ring, Map<CacheWorkerId, String> addresses)
{
    ScanRing
    {
        requireNonNull(ring, "ring is null");
        addresses = Map.copyOf(addresses);
    }

    /**
     * Empty unless all cache workers run, are members, and know just this ring.
     */
    static Optional<ScanRing> find(SqlConnection connection)
            throws SQLException
    {
        List<RingMember> members = new ArrayList<>();
        Map<CacheWorkerId, String> addresses = new TreeMap<>();
        Set<Object> epochs = new HashSet<>();
        for (List<Object> row : connection.query("SELECT node_id, weight, zone, address, epoch, state, ring_share FROM cachedhive.cache.nodes").rows()) {
            if (!"RUNNING".equals(row.get(5)) || (double) row.get(6) == 0) {
                return Optional.empty();
            }
            CacheWorkerId id = new CacheWorkerId((String) row.getFirst());
            members.add(new RingMember(id, (long) row.get(1), Optional.ofNullable((String) row.get(2))));
            addresses.put(id, (String) row.get(3));
            epochs.add(row.get(4));
        }
        HashRing ring = HashRing.of(members);
        return epochs.equals(Set.of(ring.epoch().toString())) ? Optional.of(new ScanRing(ring, addresses)) : Optional.empty();
    }

    /**
     * Whose bytes of some files are, by address.
     */
    Map<String, Long> ownedBytes(OriginId origin, Collection<String> locations, long fileBytes, long chunkBytes)
    {
        Map<String, Long> result = new TreeMap<>();
        addresses.values().forEach(address -> result.put(address, 0L));
        for (String location : locations) {
            ownedBytes(origin, location, fileBytes, chunkBytes).forEach((owner, bytes) -> result.merge(addresses.get(owner), bytes, Long::sum));
        }
        return result;
    }

    /**
     * Whose bytes of a file are.
     */
    Map<CacheWorkerId, Long> ownedBytes(OriginId origin, String location, long fileBytes, long chunkBytes)
    {
        Map<CacheWorkerId, Long> result = new TreeMap<>();
        long hash = ChunkKey.locationHash(origin, location);
        for (long start = 0; start < fileBytes; start += chunkBytes) {
            result.merge(ring.owner(ChunkKey.at(hash, start, chunkBytes)).orElseThrow(), Math.min(chunkBytes, fileBytes - start), Long::sum);
        }
        return result;
    }
}
