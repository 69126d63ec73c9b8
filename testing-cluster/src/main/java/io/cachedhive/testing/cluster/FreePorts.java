package io.cachedhive.testing.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that are about to start, none of them twice from one process.
 */
public final class FreePorts
{
    // below the range from which Linux takes the ports of outgoing connections: until the server listens there, nobody else is given it
    private static final int FIRST_PORT = 10_000;
    private static final int LAST_PORT = 32_000;
    private static final int ATTEMPTS = 1000;

    // guarded by the class
    private static final Set<Integer> GIVEN = new HashSet<>();

    private FreePorts() {}

    /**
     * One that is free on all addresses of this machine.
     *
     * @throws ClusterException if none is found
     */
    public static int next()
    {
        return next(List.of("0.0.0.0"));
    }

    /**
     * One that is free on all of the addresses.
     *
     * @throws ClusterException if none is found
     */
    static synchronized int next(List<String> addresses)
    {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST_PORT, LAST_PORT);
            if (isFree(port, addresses) && GIVEN.add(port)) {
                return port;
            }
        }
        throw new ClusterException("no port between %s and %s is free on all of %s".formatted(FIRST_PORT, LAST_PORT, addresses));
    }

    static boolean isFree(int port, List<String> addresses)
    {
        for (String address : addresses) {
            try (ServerSocket socket = new ServerSocket()) {
                socket.setReuseAddress(true);
                socket.bind(new InetSocketAddress(InetAddress.getByName(address), port));
            }
            catch (IOException _) {
                return false;
            }
        }
        return true;
    }
}
