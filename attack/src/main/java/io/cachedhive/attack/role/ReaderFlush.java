package io.cachedhive.attack.role;

import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.Sample;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.wire.InvalidationMessage.Flush;
import io.cachedhive.protocol.wire.InvalidationMessage.ReleaseFiles;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.PinMessage.SetPins;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A process that may only read flushes, releases and pins files over the Unix socket.
 */
public final class ReaderFlush
        extends RoleAttack
{
    private static final Digest128 ID = new Digest128(0x61747461636b6572L, 2);

    @Override
    public String name()
    {
        return "reader-flush";
    }

    @Override
    public String description()
    {
        return "flush, release and pin of files over the Unix socket, from a process without the secret";
    }

    @Override
    public Set<Need> needs()
    {
        return Set.of(Need.SOCKET);
    }

    @Override
    public Optional<String> run(Target target, Pressure pressure)
            throws IOException
    {
        long now = System.currentTimeMillis();
        List<Message> requests = List.of(
                new Flush(List.of(new Tombstone(ID, Sample.ORIGIN, Sample.DIRECTORY, now)), true),
                new ReleaseFiles(0, List.of(Sample.DIRECTORY)),
                new SetPins(List.of(new Pin(ID, Sample.ORIGIN, Sample.DIRECTORY, Sample.TABLE, Optional.empty(), true, now))));
        try (WireConnection reader = target.reader()) {
            for (Message request : requests) {
                Optional<String> accepted = attempt(reader, request, "a process without the secret");
                if (accepted.isPresent()) {
                    return accepted;
                }
            }
            return Optional.empty();
        }
    }

    @Override
    public Optional<String> leftovers(Target target)
            throws IOException
    {
        return target.isCached(target.sample()) ? Optional.empty() : Optional.of("a block of the directory is no longer in the cache");
    }
}
