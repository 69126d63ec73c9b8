package io.cachedhive.attack.role;

import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.Sample;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.PolicyMessage.TableQuota;
import io.cachedhive.protocol.wire.StatusMessage.Ping;

import java.io.IOException;
import java.util.Optional;
import java.util.Set;

/**
 * A process without the secret sets the quota of a table to zero, which evicts its blocks.
 */
public final class QuotaZero
        extends RoleAttack
{
    @Override
    public String name()
    {
        return "quota-zero";
    }

    @Override
    public String description()
    {
        return "a quota of zero bytes for a table, from a process without the secret";
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
        try (WireConnection reader = target.reader()) {
            long quota = reader.nextRequest();
            long ping = reader.nextRequest();
            reader.send(quota, new TableQuota(Sample.TABLE, 0));
            reader.send(ping, new Ping());
            // a quota that is accepted has no answer, and requests are answered in their order
            WireConnection.Frame answer = reader.receiveFrame();
            return answer.request() == quota && answer.message() instanceof ControlMessage.Error ?
                    Optional.empty() :
                    Optional.of("a process without the secret got no error for TABLE_QUOTA");
        }
    }

    @Override
    public Optional<String> leftovers(Target target)
            throws IOException
    {
        return target.isCached(target.sample()) ? Optional.empty() : Optional.of("a block of the table is no longer in the cache");
    }
}
