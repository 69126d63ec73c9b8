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

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * An immutable set of members that gives each chunk an order of preference over them; the first is its owner.
 *
 * <p>Weighted rendezvous hashing (Thaler and Ravishankar, "Using name-based mappings to increase hit rates", 1998; the weights after
 * Schindelhauer and Schomaker, "Weighted distributed hash tables", 2005): every member has a score for every chunk, the highest owns it.
 * A member that joins takes, and one that leaves gives up, its own share and nothing else moves, without virtual nodes or tables.
 *
 * <p>Scores are integers from integer hashes, but for members of unequal weights, where they are {@code -weight / ln(u)} by
 * {@link StrictMath}: every JVM on every machine computes the same order.
 */
public final class HashRing
{
    private static final HashRing EMPTY = new HashRing(List.of());

    private final List<RingMember> members;
    private final Map<CacheWorkerId, Integer> indexes;
    private final long[] seeds;
    private final double[] weights;
    private final double maxWeight;
    private final boolean uniform;
    private final RingEpoch epoch;

    private HashRing(List<RingMember> members)
    {
        this.members = members;
        this.indexes = new HashMap<>();
        this.seeds = new long[members.size()];
        this.weights = new double[members.size()];
        boolean uniform = true;
        for (int i = 0; i < members.size(); i++) {
            RingMember member = members.get(i);
            if (indexes.put(member.id(), i) != null) {
                throw new IllegalArgumentException("two members of the ring have the same cache worker id: " + member.id());
            }
            seeds[i] = Digest128.sha256(ByteBuffer.wrap(("cachedhive-member-1\n" + member.id()).getBytes(UTF_8))).high();
            weights[i] = member.weight();
            uniform &= member.weight() == members.getFirst().weight();
        }
        this.uniform = uniform;
        this.maxWeight = Arrays.stream(weights).max().orElse(0);
        this.epoch = epoch(members);
    }

    public static HashRing of(Collection<RingMember> members)
    {
        if (members.isEmpty()) {
            return EMPTY;
        }
        return new HashRing(members.stream()
                .sorted(Comparator.comparing(RingMember::id))
                .toList());
    }

    private static RingEpoch epoch(List<RingMember> members)
    {
        StringBuilder text = new StringBuilder("cachedhive-ring-1\n");
        for (RingMember member : members) {
            text.append(member.id()).append('\t').append(member.weight()).append('\t').append(member.zone().orElse("")).append('\n');
        }
        return new RingEpoch(Digest128.sha256(ByteBuffer.wrap(text.toString().getBytes(UTF_8))).high());
    }

    /**
     * In the order of their ids.
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
     * The share of all chunks that the member owns, 0 to 1.
     */
    public double share(CacheWorkerId id)
    {
        Integer index = indexes.get(id);
        if (index == null) {
            return 0;
        }
        double total = 0;
        for (double weight : weights) {
            total += weight;
        }
        return weights[index] / total;
    }

    /**
     * The owner; empty on an empty ring.
     */
    public Optional<CacheWorkerId> owner(ChunkKey chunk)
    {
        if (members.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(members.get(uniform ? ownerByHash(chunk) : ownerByScore(chunk)).id());
    }

    private int ownerByHash(ChunkKey chunk)
    {
        int best = 0;
        long bestHash = hash(chunk, 0);
        for (int i = 1; i < seeds.length; i++) {
            long hash = hash(chunk, i);
            if (isBefore(i, hash, 0, best, bestHash, 0)) {
                best = i;
                bestHash = hash;
            }
        }
        return best;
    }

    private int ownerByScore(ChunkKey chunk)
    {
        int best = 0;
        long bestHash = hash(chunk, 0);
        double bestScore = score(0, bestHash);
        double leastFraction = leastFraction(bestScore);
        for (int i = 1; i < seeds.length; i++) {
            long hash = hash(chunk, i);
            // almost all members are done here, without a logarithm
            if (fraction(hash) < leastFraction) {
                continue;
            }
            double score = score(i, hash);
            if (isBefore(i, hash, score, best, bestHash, bestScore)) {
                best = i;
                bestHash = hash;
                bestScore = score;
                leastFraction = leastFraction(bestScore);
            }
        }
        return best;
    }

    /**
     * Below this fraction not even the heaviest member has the score. A little lower than it is, since logarithm and exponential are rounded.
     */
    private double leastFraction(double score)
    {
        return StrictMath.exp(-maxWeight / score) * (1 - 1e-9);
    }

    /**
     * All members, the owner first, the second next.
     */
    public List<CacheWorkerId> order(ChunkKey chunk)
    {
        record Candidate(int index, long hash, double score) {}

        List<Candidate> candidates = new ArrayList<>(seeds.length);
        for (int i = 0; i < seeds.length; i++) {
            long hash = hash(chunk, i);
            candidates.add(new Candidate(i, hash, score(i, hash)));
        }
        candidates.sort((left, right) -> {
            if (left.index == right.index) {
                return 0;
            }
            return isBefore(left.index, left.hash, left.score, right.index, right.hash, right.score) ? -1 : 1;
        });
        return candidates.stream()
                .map(candidate -> members.get(candidate.index).id())
                .toList();
    }

    private long hash(ChunkKey chunk, int index)
    {
        return mix(mix(chunk.locationHash() + chunk.index() * 0x9E3779B97F4A7C15L) ^ seeds[index]);
    }

    private static boolean isBefore(int left, long leftHash, double leftScore, int right, long rightHash, double rightScore)
    {
        if (leftScore != rightScore) {
            return leftScore > rightScore;
        }
        int result = Long.compareUnsigned(leftHash, rightHash);
        // equal hashes of two members: any fixed order does, and that of the ids is the same everywhere
        return result != 0 ? result > 0 : left < right;
    }

    // the same for all where the hash alone decides
    private double score(int index, long hash)
    {
        if (uniform) {
            return 0;
        }
        return -weights[index] / StrictMath.log(fraction(hash));
    }

    // 53 bits, never 0 or 1
    private static double fraction(long hash)
    {
        return ((hash >>> 11) + 0.5) * 0x1p-53;
    }

    // MurmurHash3's 64-bit finaliser with the constants of Stafford's variant 13
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
