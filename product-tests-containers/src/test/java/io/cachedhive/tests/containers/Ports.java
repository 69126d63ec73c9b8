package io.cachedhive.tests.containers;

import io.cachedhive.testing.Await;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;

import static io.cachedhive.testing.Await.QUERY_PAUSE;

/**
 * Where the programs of the hosts listen. Each host has its own address, so that all may have the usual ports.
 */
final class Ports
{
    static final int SSH = 22;
    static final int TRINO = 8080;
    static final int TRINO_HTTPS = 8443;
    static final int CACHE_WORKER = 8484;
    static final int METASTORE = 9083;
    static final int S3 = 9000;

    // a closed port refuses at once: only a host that drops packets makes this wait
    private static final int CONNECT_TIMEOUT_MILLIS = 60_000;

    private Ports() {}

    static boolean isOpen(String address, int port)
    {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address, port), CONNECT_TIMEOUT_MILLIS);
            return true;
        }
        catch (IOException _) {
            return false;
        }
    }

    /**
     * Waits until something accepts connections there.
     */
    static void awaitOpen(String address, int port, Duration timeout)
    {
        Await.until("%s:%s accepts connections".formatted(address, port), timeout, QUERY_PAUSE, () -> isOpen(address, port));
    }
}
