package io.cachedhive.protocol.ring;

import io.cachedhive.protocol.file.Digest128;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * An immutable set of members that ranks them by preference for each chunk. The first member is the owner.
 *
 * <p>The ranking is weighted rendezvous hashing. Every member has a score for every chunk, and the highest score owns
 * it. A member that joins or leaves moves only its own share, without virtual nodes or tables. Removing some members
 * does not change the order of the rest ({@link #restrictedTo}). Sources: Thaler and Ravishankar, "Using name-based
 * mappings to increase hit rates", 1998; for the weights Schindelhauer and Schomaker, "Weighted distributed hash
 * tables", 2005.
 *
 * <p>Every JVM on every machine computes the same order. Members of equal weights are ranked by integer hashes. With
 * unequal weights the score is {@code -weight / ln(u)}, computed with {@link StrictMath}.
 */
public final class HashRing
{
    private static final HashRing EMPTY = new HashRing(List.of(), new long[0]);

    // far above the rounding error of a logarithm and three operations, yet too small to weaken the bound noticeably
    private static final double ROUNDING = 1e-9;

    private final List<RingMember> members;
    private final Map<CacheWorkerId, Integer> indexes;
    private final long[] seeds;
    private final double[] weights;
    // slightly more than the weights, so that rounding cannot exclude a member that belongs among the leaders
    private final double[] weightBounds;
    private final double totalWeight;
    private final boolean uniform;
    private final RingEpoch epoch;
    // empty if all members are in the same zone or none has a zone
    private final Map<Optional<String>, HashRing> zones;

    private HashRing(List<RingMember> members, long[] seeds)
    {
        this.members = members;
        this.indexes = new HashMap<>();
        this.seeds = seeds;
        this.weights = new double[members.size()];
        this.weightBounds = new double[members.size()];
        boolean uniform = true;
        for (int i = 0; i < members.size(); i++) {
            RingMember member = members.get(i);
            if (indexes.put(member.id(), i) != null) {
                throw new IllegalArgumentException("two members of the ring have the same cache worker id: " + member.id());
            }
            weights[i] = member.weight();
            weightBounds[i] = weights[i] * (1 + ROUNDING);
            uniform &= member.weight() == members.getFirst().weight();
        }
        this.uniform = uniform;
        this.totalWeight = Arrays.stream(weights).sum();
        this.epoch = epoch(members);
        this.zones = zones();
    }

    public static HashRing of(Collection<RingMember> members)
    {
        if (members.isEmpty()) {
            return EMPTY;
        }
        List<RingMember> sorted = members.stream()
                .sorted(Comparator.comparing(RingMember::id))
                .toList();
        return new HashRing(sorted, sorted.stream().mapToLong(HashRing::seed).toArray());
    }

    private static long seed(RingMember member)
    {
        return Digest128.sha256(ByteBuffer.wrap(("cachedhive-member-1\n" + member.id()).getBytes(UTF_8))).high();
    }

    private static RingEpoch epoch(List<RingMember> members)
    {
        StringBuilder text = new StringBuilder("cachedhive-ring-1\n");
        for (RingMember member : members) {
            text.append(member.id()).append('\t').append(member.weight()).append('\t').append(member.zone().orElse("")).append('\n');
        }
        return new RingEpoch(Digest128.sha256(ByteBuffer.wrap(text.toString().getBytes(UTF_8))).high());
    }

    private Map<Optional<String>, HashRing> zones()
    {
        List<Optional<String>> names = members.stream().map(RingMember::zone).distinct().toList();
        Map<Optional<String>, HashRing> zones = new HashMap<>();
        if (names.size() > 1) {
            names.forEach(name -> zones.put(name, restrictedTo(member -> member.zone().equals(name))));
        }
        return zones;
    }

    /**
     * Returns a ring of the members that match the filter. Their order for each chunk is unchanged.
     */
    public HashRing restrictedTo(Predicate<RingMember> filter)
    {
        requireNonNull(filter, "filter is null");
        List<RingMember> some = new ArrayList<>();
        long[] someSeeds = new long[seeds.length];
        for (int i = 0; i < seeds.length; i++) {
            if (filter.test(members.get(i))) {
                someSeeds[some.size()] = seeds[i];
                some.add(members.get(i));
            }
        }
        if (some.size() == members.size()) {
            return this;
        }
        return some.isEmpty() ? EMPTY : new HashRing(List.copyOf(some), Arrays.copyOf(someSeeds, some.size()));
    }

    /**
     * Returns the members sorted by id.
     */
    public List<RingMember> members()
    {
        return members;
    }

    public boolean isEmpty()
    {
        return members.isEmpty();
    }

    public RingEpoch epoch()
    {
        return epoch;
    }

    public Optional<RingMember> member(CacheWorkerId id)
    {
        return Optional.ofNullable(indexes.get(id)).map(members::get);
    }

    /**
     * Returns the fraction of all chunks that the member owns, from 0 to 1.
     */
    public double share(CacheWorkerId id)
    {
        Integer index = indexes.get(id);
        return index == null ? 0 : weights[index] / totalWeight;
    }

    /**
     * Returns the owner, or empty if the ring is empty.
     */
    public Optional<CacheWorkerId> owner(ChunkKey chunk)
    {
        List<CacheWorkerId> first = first(chunk, 1);
        return first.isEmpty() ? Optional.empty() : Optional.of(first.getFirst());
    }

    /**
     * Returns whether the members are in different zones, so that the owner of a chunk depends on the reader's zone.
     */
    public boolean hasZones()
    {
        return !zones.isEmpty();
    }

    /**
     * Returns the owner for readers of a zone: the first member within the zone. Readers without a zone, or of a zone
     * without members, use the global owner. Empty if the ring is empty.
     */
    public Optional<CacheWorkerId> owner(ChunkKey chunk, Optional<String> zone)
    {
        if (zone.isEmpty()) {
            return owner(chunk);
        }
        return zones.getOrDefault(zone, this).owner(chunk);
    }

    /**
     * Returns the owner within a zone, or empty if the zone has no member, for traffic that must stay in the zone.
     */
    public Optional<CacheWorkerId> ownerWithin(ChunkKey chunk, Optional<String> zone)
    {
        return owner(chunk, zone).filter(id -> zone.isEmpty() || member(id).orElseThrow().zone().equals(zone));
    }

    /**
     * Returns the member that serves the chunk when its owner is overloaded: the next one in the owner's zone, or empty
     * if the zone has no other member.
     */
    public Optional<CacheWorkerId> second(ChunkKey chunk)
    {
        List<CacheWorkerId> first = first(chunk, 1);
        if (first.isEmpty()) {
            return Optional.empty();
        }
        List<CacheWorkerId> near = zoneOf(first.getFirst()).first(chunk, 2);
        return near.size() < 2 ? Optional.empty() : Optional.of(near.get(1));
    }

    /**
     * Returns the owner, the other members of its zone, and the members of other zones, each group in ranking order.
     *
     * @param count the maximum number of members to return
     */
    public List<CacheWorkerId> nearest(ChunkKey chunk, int count)
    {
        List<CacheWorkerId> first = first(chunk, zones.isEmpty() ? count : 1);
        if (zones.isEmpty() || first.isEmpty()) {
            return first;
        }
        HashRing zone = zoneOf(first.getFirst());
        List<CacheWorkerId> nearest = new ArrayList<>(zone.first(chunk, count));
        if (nearest.size() < Math.min(count, members.size())) {
            first(chunk, count + zone.members().size()).stream()
                    .filter(id -> zone.member(id).isEmpty())
                    .limit(count - nearest.size())
                    .forEach(nearest::add);
        }
        return nearest;
    }

    /**
     * Returns the first members of the zone of a member, itself included, in the ranking order of the chunk.
     *
     * @param count the maximum number of members to return
     */
    public List<CacheWorkerId> inZoneOf(CacheWorkerId id, ChunkKey chunk, int count)
    {
        return zoneOf(id).first(chunk, count);
    }

    private HashRing zoneOf(CacheWorkerId id)
    {
        return zones.getOrDefault(members.get(indexes.get(id)).zone(), this);
    }

    /**
     * Returns all members in ranking order, the owner first.
     */
    public List<CacheWorkerId> order(ChunkKey chunk)
    {
        return first(chunk, members.size());
    }

    /**
     * Returns the first members in ranking order regardless of zones, the owner first. Returns all members if there are
     * no more than {@code count}.
     */
    public List<CacheWorkerId> first(ChunkKey chunk, int count)
    {
        Leaders leaders = new Leaders(Math.min(count, members.size()));
        if (leaders.capacity() == 0) {
            return List.of();
        }
        long chunkHash = mix(chunk.locationHash() + chunk.index() * 0x9E3779B97F4A7C15L);
        if (uniform) {
            findByHash(chunkHash, leaders);
        }
        else {
            findByScore(chunkHash, leaders);
        }
        return leaders.ids(members);
    }

    private void findByHash(long chunkHash, Leaders leaders)
    {
        long leastHash = 0;
        for (int i = 0; i < seeds.length; i++) {
            long hash = mix(chunkHash ^ seeds[i]);
            if (Long.compareUnsigned(hash, leastHash) >= 0) {
                leaders.offer(i, hash, 0);
                leastHash = leaders.leastHash();
            }
        }
    }

    private void findByScore(long chunkHash, Leaders leaders)
    {
        double leastScore = 0;
        for (int i = 0; i < seeds.length; i++) {
            long hash = mix(chunkHash ^ seeds[i]);
            double fraction = fraction(hash);
            // -ln(u) >= 1 - u, so weight / (1 - u) is an upper bound of the score. It rejects almost all members
            // without a logarithm.
            if (leastScore * (1 - fraction) <= weightBounds[i]) {
                leaders.offer(i, hash, -weights[i] / StrictMath.log(fraction));
                leastScore = leaders.leastScore();
            }
        }
    }

    /**
     * The highest-ranked members so far, in order.
     */
    private static final class Leaders
    {
        private final int[] indexes;
        private final long[] hashes;
        private final double[] scores;
        private int size;

        Leaders(int capacity)
        {
            indexes = new int[capacity];
            hashes = new long[capacity];
            scores = new double[capacity];
        }

        int capacity()
        {
            return indexes.length;
        }

        /**
         * Returns the hash below which a member cannot enter the leaders.
         */
        long leastHash()
        {
            return size < indexes.length ? 0 : hashes[size - 1];
        }

        double leastScore()
        {
            return size < indexes.length ? 0 : scores[size - 1];
        }

        /**
         * Adds a member if it ranks high enough. Members must be offered in the order of their indexes.
         */
        void offer(int index, long hash, double score)
        {
            int position = size;
            // equal hashes keep the order of the ids, which is the same on every machine
            while (position > 0 && isBefore(hash, score, hashes[position - 1], scores[position - 1])) {
                position--;
            }
            if (position == indexes.length) {
                return;
            }
            int moved = Math.min(size, indexes.length - 1) - position;
            System.arraycopy(indexes, position, indexes, position + 1, moved);
            System.arraycopy(hashes, position, hashes, position + 1, moved);
            System.arraycopy(scores, position, scores, position + 1, moved);
            indexes[position] = index;
            hashes[position] = hash;
            scores[position] = score;
            size = Math.min(size + 1, indexes.length);
        }

        private static boolean isBefore(long leftHash, double leftScore, long rightHash, double rightScore)
        {
            if (leftScore != rightScore) {
                return leftScore > rightScore;
            }
            return Long.compareUnsigned(leftHash, rightHash) > 0;
        }

        List<CacheWorkerId> ids(List<RingMember> members)
        {
            CacheWorkerId[] ids = new CacheWorkerId[size];
            for (int i = 0; i < size; i++) {
                ids[i] = members.get(indexes[i]).id();
            }
            return List.of(ids);
        }
    }

    // Maps a hash to a fraction with 53 bits, never 0 or 1.
    private static double fraction(long hash)
    {
        // the largest value would round up to 1
        return Math.min(((hash >>> 11) + 0.5) * 0x1p-53, 1 - 0x1p-53);
    }

    // The 64-bit finalizer of MurmurHash3 with the constants of Stafford's variant 13.
    private static long mix(long value)
    {
        long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    @Override
    public boolean equals(Object object)
    {
        return object instanceof HashRing other && members.equals(other.members);
    }

    @Override
    public int hashCode()
    {
        return members.hashCode();
    }

    @Override
    public String toString()
    {
        return "HashRing{epoch=%s, members=%s}".formatted(epoch, members);
    }
}
