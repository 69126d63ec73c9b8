package io.cachedhive.attack.role;

import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.RingMessage.GetRings;
import io.cachedhive.protocol.wire.RingMessage.PublishRing;
import io.cachedhive.protocol.wire.RingMessage.Rings;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A process publishes a ring of its own that outranks all rings of the coordinator.
 */
public final class RingFromFuture
        extends RoleAttack
{
    private static final CacheWorkerId ATTACKER = new CacheWorkerId("attacker");

    // published before the attack to a cache worker of this program
    private Optional<PublishedRing> legitimate = Optional.empty();

    @Override
    public String name()
    {
        return "ring-from-future";
    }

    @Override
    public String description()
    {
        return "a ring with a time in the future, from a process without the secret and from one with it";
    }

    @Override
    public Set<Need> needs()
    {
        return Set.of(Need.SOCKET, Need.SECRET);
    }

    @Override
    public Optional<String> run(Target target, Pressure pressure)
            throws IOException
    {
        long now = System.currentTimeMillis();
        try (WireConnection member = target.member(); WireConnection reader = target.reader()) {
            if (target.own().isPresent()) {
                PublishedRing ring = ring(new CacheWorkerId("legitimate"), now);
                Message answer = member.ask(new PublishRing(ring));
                if (!(answer instanceof Ack)) {
                    throw new IOException("the cache worker answered a ring of the present with " + answer);
                }
                legitimate = Optional.of(ring);
            }
            Optional<String> accepted = attempt(reader, new PublishRing(ring(ATTACKER, now + AHEAD.toMillis())), "a process without the secret");
            if (accepted.isEmpty()) {
                accepted = attempt(reader, new PublishRing(ring(ATTACKER, now)), "a process without the secret");
            }
            if (accepted.isEmpty()) {
                accepted = attempt(member, new PublishRing(ring(ATTACKER, now + AHEAD.toMillis())), "a holder of the secret");
            }
            if (accepted.isEmpty()) {
                accepted = attempt(member, new PublishRing(ring(ATTACKER, Long.MAX_VALUE)), "a holder of the secret");
            }
            return accepted;
        }
    }

    private static PublishedRing ring(CacheWorkerId member, long publishedMillis)
    {
        return new PublishedRing(HashRing.of(List.of(new RingMember(member, 100, Optional.empty()))), Map.of(), publishedMillis);
    }

    @Override
    public Optional<String> leftovers(Target target)
            throws IOException
    {
        try (WireConnection connection = target.connect()) {
            Message answer = connection.ask(new GetRings());
            if (!(answer instanceof Rings rings)) {
                throw new IOException("the cache worker answered a request for its rings with " + answer);
            }
            if (rings.rings().stream().anyMatch(ring -> ring.ring().member(ATTACKER).isPresent())) {
                return Optional.of("the cache worker knows the attacker's ring");
            }
            if (legitimate.isPresent() && (rings.rings().isEmpty() || !rings.rings().getFirst().epoch().equals(legitimate.get().epoch()))) {
                return Optional.of("the newest ring is not the one that was published before the attack");
            }
            return Optional.empty();
        }
    }
}
