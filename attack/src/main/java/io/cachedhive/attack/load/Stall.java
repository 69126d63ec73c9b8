package io.cachedhive.attack.load;

import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.Sample;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.wire.FillMessage.Fill;
import io.cachedhive.protocol.wire.Message;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * Peers send half a message and stop. With the secret, every second one has completed its handshake.
 */
public final class Stall
        implements Attack
{
    private static final int DEFAULT_CONNECTIONS = 64;

    @Override
    public String name()
    {
        return "stall";
    }

    @Override
    public String description()
    {
        return "connections that send half a message and stop";
    }

    @Override
    public Set<Need> needs()
    {
        return Set.of();
    }

    @Override
    public boolean isCounted()
    {
        // a short form ends before the time-outs of the cache worker
        return false;
    }

    @Override
    public Optional<String> run(Target target, Pressure pressure)
            throws IOException, InterruptedException
    {
        Duration lifetime = pressure.duration().plusMinutes(1);
        Swarm.run(pressure.connections().orElse(DEFAULT_CONNECTIONS), pressure.duration(), index -> {
            boolean proven = target.secret().isPresent() && index % 2 == 0;
            try (WireConnection connection = proven ? target.member(lifetime) : WireConnection.tls(target.socketAddress(), lifetime)) {
                Message message = proven ? new Fill(1, 0, 0, 0, ByteBuffer.wrap(target.sample().bytes())) : WireConnection.newHello(Sample.ORIGINS);
                ByteBuffer frame = message.toFrame(1);
                connection.sendBytes(frame.limit(frame.limit() / 2));
                // until the cache worker closes the connection
                connection.receive();
            }
        });
        return Optional.empty();
    }
}
