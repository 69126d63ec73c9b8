package io.cachedhive.chaos.fault;

import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Checks that cache workers learn of changes of the ring.
 */
public final class RingCheck
{
    // other faults may keep a cache worker from its coordinator for a quarter of it, and the ring changes once in 10 s
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

    private RingCheck() {}

    /**
     * Waits until all cache workers that run know one ring, which is not the former one.
     *
     * @param former its epoch, if the ring has to change
     * @return the epoch of the ring
     * @throws IllegalStateException if that does not happen in time
     */
    public static String awaitOne(SqlConnection connection, Optional<String> former)
            throws InterruptedException
    {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        String found;
        while (true) {
            try {
                List<Node> nodes = nodes(connection).stream().filter(node -> node.state().equals("RUNNING")).toList();
                Set<Optional<String>> epochs = nodes.stream().map(Node::epoch).collect(Collectors.toSet());
                Optional<String> only = epochs.size() == 1 ? epochs.iterator().next() : Optional.empty();
                if (only.isPresent() && !only.equals(former)) {
                    return only.get();
                }
                found = nodes.toString();
            }
            catch (SQLException e) {
                found = e.toString();
            }
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("the cache workers should have one ring%s within %s s, but system.cache.nodes shows %s".formatted(
                        former.map(", other than %s,"::formatted).orElse(""),
                        TIMEOUT.toSeconds(),
                        found));
            }
            Thread.sleep(POLL_INTERVAL);
        }
    }

    private record Node(String address, String state, Optional<String> epoch) {}

    private static List<Node> nodes(SqlConnection connection)
            throws SQLException
    {
        return connection.query("SELECT address, state, epoch FROM system.cache.nodes WHERE catalog_name = 'cachedhive' ORDER BY address").rows().stream()
                .map(row -> new Node((String) row.get(0), (String) row.get(1), Optional.ofNullable((String) row.get(2))))
                .toList();
    }
}
