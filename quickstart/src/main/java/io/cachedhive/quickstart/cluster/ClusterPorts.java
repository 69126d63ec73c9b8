package io.cachedhive.quickstart.cluster;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

import static java.util.Objects.requireNonNull;

/**
 * The ports of a cluster, remembered in its directory: the S3 endpoint is part of what a cached file is, so another port would make the cache cold.
 */
final class ClusterPorts
{
    // below the range from which Linux takes the ports of outgoing connections
    private static final int FIRST_PORT = 10_000;
    private static final int LAST_PORT = 32_000;
    private static final int ATTEMPTS = 1000;
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(3);

    private final Path file;
    private final Properties ports = new Properties();
    private final Set<Integer> given = new HashSet<>();

    private ClusterPorts(Path file)
    {
        this.file = requireNonNull(file, "file is null");
    }

    static ClusterPorts open(Path file)
    {
        ClusterPorts result = new ClusterPorts(file);
        if (Files.exists(file)) {
            try (Reader reader = Files.newBufferedReader(file)) {
                result.ports.load(reader);
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return result;
    }

    /** The port of that name from the last time if it is free on all the addresses, else another one that is. */
    int port(String name, List<String> addresses)
    {
        String last = ports.getProperty(name);
        if (last != null && given.add(Integer.parseInt(last)) && awaitFree(Integer.parseInt(last), addresses)) {
            return Integer.parseInt(last);
        }
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST_PORT, LAST_PORT);
            if (given.add(port) && isFree(port, addresses)) {
                ports.setProperty(name, Integer.toString(port));
                return port;
            }
        }
        throw new ClusterException("no port between %s and %s is free on all of %s".formatted(FIRST_PORT, LAST_PORT, addresses));
    }

    void save()
    {
        try (Writer writer = Files.newBufferedWriter(file)) {
            ports.store(writer, "ports of this cluster; kept because the cache knows files by their endpoint");
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // the S3 server of a program that was just killed takes a moment to notice that
    private static boolean awaitFree(int port, List<String> addresses)
    {
        long deadline = System.nanoTime() + LONGEST_WAIT.toNanos();
        while (!isFree(port, addresses)) {
            if (System.nanoTime() >= deadline) {
                return false;
            }
            ClusterNode.pause();
        }
        return true;
    }

    private static boolean isFree(int port, List<String> addresses)
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
