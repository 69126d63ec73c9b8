package io.cachedhive.chaos.fault;

import io.cachedhive.testing.cluster.ClusterNode;

import java.io.IOException;
import java.time.Duration;

/**
 * What faults do with processes.
 */
final class NodeFaults
{
    // of a machine on which many others build
    static final Duration START_TIMEOUT = Duration.ofMinutes(15);

    private NodeFaults() {}

    static void start(ClusterNode node)
    {
        node.start();
        node.awaitReady(START_TIMEOUT);
    }

    /**
     * @param name such as {@code STOP}
     */
    static void signal(String name, long pid)
            throws IOException, InterruptedException
    {
        if (new ProcessBuilder("kill", "-" + name, Long.toString(pid)).inheritIO().start().waitFor() != 0) {
            throw new IOException("kill -%s %s failed".formatted(name, pid));
        }
    }
}
