package io.cachedhive.attack.role;

import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.Message;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/**
 * A peer sends requests that its role, or a rule, does not permit.
 */
abstract class RoleAttack
        implements Attack
{
    /**
     * Further ahead than the clocks of a cluster differ.
     */
    static final Duration AHEAD = Duration.ofHours(3);

    @Override
    public final boolean isCounted()
    {
        return true;
    }

    /**
     * Sends a request that must be answered with an error.
     *
     * @return what the peer did instead, empty if it refused the request
     */
    static Optional<String> attempt(WireConnection connection, Message request, String peer)
            throws IOException
    {
        Message answer = connection.ask(request);
        return answer instanceof ControlMessage.Error ?
                Optional.empty() :
                Optional.of("%s got the answer %s to %s instead of an error".formatted(peer, answer.type(), request.type()));
    }
}
