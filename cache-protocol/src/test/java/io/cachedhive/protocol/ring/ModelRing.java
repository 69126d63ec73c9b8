package io.cachedhive.protocol.ring;

import io.cachedhive.protocol.file.Digest128;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.List;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * The rule by which chunks get their order, as it is written and as slow as that is.
 */
final class ModelRing
{
    private ModelRing() {}

    static List<RingMember> order(List<RingMember> members, ChunkKey chunk)
    {
        record Candidate(RingMember member, double score, long hash) {}

        boolean equalWeights = members.stream().mapToLong(RingMember::weight).distinct().count() == 1;
        return members.stream()
                .map(member -> {
                    long hash = mix(mix(chunk.locationHash() + chunk.index() * 0x9E3779B97F4A7C15L) ^ seed(member));
                    double fraction = Math.min(new BigDecimal(hash >>> 11).add(new BigDecimal("0.5")).doubleValue() / 0x1p53, Math.nextDown(1.0));
                    return new Candidate(member, equalWeights ? 0 : -member.weight() / StrictMath.log(fraction), hash);
                })
                .sorted(Comparator.comparingDouble(Candidate::score).reversed()
                        .thenComparing((left, right) -> Long.compareUnsigned(right.hash(), left.hash()))
                        .thenComparing(candidate -> candidate.member().id()))
                .map(Candidate::member)
                .toList();
    }

    private static long seed(RingMember member)
    {
        return Digest128.sha256(ByteBuffer.wrap(("cachedhive-member-1\n" + member.id()).getBytes(UTF_8))).high();
    }

    private static long mix(long value)
    {
        long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
