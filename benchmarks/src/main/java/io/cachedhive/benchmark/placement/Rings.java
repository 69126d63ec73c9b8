package io.cachedhive.benchmark.placement;

import com.google.common.net.HostAndPort;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.RingMember;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.IntToLongFunction;

import static java.util.stream.Collectors.toMap;

/**
 * Rings of workers whose names are random, as they are in clusters.
 */
final class Rings
{
    private static final long WEIGHT = 400_000_000_000L;

    private Rings() {}

    static HashRing random(SplittableRandom random, int workers)
    {
        return random(random, workers, _ -> WEIGHT);
    }

    static HashRing random(SplittableRandom random, int workers, IntToLongFunction weights)
    {
        List<RingMember> members = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            members.add(new RingMember(new CacheWorkerId("worker-%016x".formatted(random.nextLong())), weights.applyAsLong(i), Optional.empty()));
        }
        return HashRing.of(members);
    }

    /**
     * With a Trino worker beside each member.
     */
    static RingView view(HashRing ring)
    {
        return RingView.of(ring, ring.members().stream()
                .collect(toMap(RingMember::id, member -> List.of(node(member.id())))));
    }

    static HostAndPort node(CacheWorkerId worker)
    {
        return HostAndPort.fromParts("host-of-" + worker, 8080);
    }

    static List<HostAndPort> nodes(RingView view)
    {
        return view.nodes().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .flatMap(entry -> entry.getValue().stream())
                .toList();
    }
}
