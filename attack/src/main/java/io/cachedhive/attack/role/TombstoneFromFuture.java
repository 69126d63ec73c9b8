package io.cachedhive.attack.role;

import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.Sample;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.wire.InvalidationMessage.Flush;
import io.cachedhive.protocol.wire.InvalidationMessage.GetTombstones;
import io.cachedhive.protocol.wire.InvalidationMessage.Tombstones;
import io.cachedhive.protocol.wire.Message;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A process flushes with a time in the future, so that the flush is never forgotten.
 */
public final class TombstoneFromFuture
        extends RoleAttack
{
    private static final Digest128 ID = new Digest128(0x61747461636b6572L, 1);
    private static final Digest128 ZERO = new Digest128(0, 0);

    @Override
    public String name()
    {
        return "tombstone-from-future";
    }

    @Override
    public String description()
    {
        return "a flush with a time in the future, from a process without the secret and from one with it";
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
            Optional<String> accepted = attempt(reader, flush(now + AHEAD.toMillis()), "a process without the secret");
            if (accepted.isEmpty()) {
                accepted = attempt(member, flush(now + AHEAD.toMillis()), "a holder of the secret");
            }
            if (accepted.isEmpty()) {
                accepted = attempt(member, flush(Long.MAX_VALUE), "a holder of the secret");
            }
            return accepted;
        }
    }

    private static Flush flush(long createdMillis)
    {
        return new Flush(List.of(new Tombstone(ID, Sample.ORIGIN, Sample.DIRECTORY, createdMillis)), true);
    }

    @Override
    public Optional<String> leftovers(Target target)
            throws IOException
    {
        try (WireConnection member = target.member()) {
            Digest128 after = ZERO;
            while (true) {
                Message answer = member.ask(new GetTombstones(ZERO, after));
                if (!(answer instanceof Tombstones page)) {
                    throw new IOException("the cache worker answered a request for its flushes with " + answer);
                }
                if (page.tombstones().stream().anyMatch(tombstone -> tombstone.id().equals(ID))) {
                    return Optional.of("the cache worker remembers the attacker's flush");
                }
                if (page.tombstones().isEmpty() || page.tombstones().getLast().id().compareTo(after) <= 0) {
                    return Optional.empty();
                }
                after = page.tombstones().getLast().id();
            }
        }
    }
}
