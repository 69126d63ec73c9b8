package io.cachedhive.benchmark.worker;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for the servers that a benchmark starts, none of them twice.
 */
public final class FreePorts
{
    // below the range from which Linux takes the ports of outgoing connections
    private static final int FIRST_PORT = 10_000;
    private static final int LAST_PORT = 32_000;
    private static final int ATTEMPTS = 1000;

    private static final Set<Integer> GIVEN = new HashSet<>();

    private FreePorts() {}

    /**
     * One that is free on all addresses of this machine.
     *
     * @throws IOException if none is found
     */
    public static synchronized int next()
            throws IOException
    {
        IOException last = null;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST_PORT, LAST_PORT);
            if (!GIVEN.add(port)) {
                continue;
            }
            try (ServerSocket socket = new ServerSocket()) {
                socket.setReuseAddress(true);
                socket.bind(new InetSocketAddress(port));
                return port;
            }
            catch (IOException e) {
                last = e;
            }
        }
        throw new IOException("no port between %s and %s is free".formatted(FIRST_PORT, LAST_PORT), last);
    }
}
