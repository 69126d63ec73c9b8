package io.cachedhive.testing.cluster;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * The ports of a cluster, remembered in its directory: the S3 endpoint is part of what a cached file is, so another port would make the cache cold.
 */
final class ClusterPorts
{
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
        int port;
        do {
            port = FreePorts.next(addresses);
        }
        // one that another name had the last time
        while (!given.add(port));
        ports.setProperty(name, Integer.toString(port));
        return port;
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
        while (!FreePorts.isFree(port, addresses)) {
            if (System.nanoTime() >= deadline) {
                return false;
            }
            ClusterNode.pause();
        }
        return true;
    }
}
