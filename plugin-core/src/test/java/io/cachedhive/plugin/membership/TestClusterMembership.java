package io.cachedhive.plugin.membership;

import com.google.common.net.HostAndPort;
import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.plugin.event.CacheEvents;
import io.cachedhive.protocol.file.IsolationDomain;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import org.junit.jupiter.api.Test;

import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

class TestClusterMembership
{
    private static final int PORT = 1;

    /**
     * The first query of {@code cache.stats} after CREATE CATALOG has a row for each host, although no cache worker has answered yet.
     */
    @Test
    void testHostsAreKnownAtOnce()
    {
        List<ClusterNode> nodes = Stream.of("127.0.0.2", "127.0.0.1")
                .map(host -> new ClusterNode(host, HostAndPort.fromParts(host, 8080)))
                .toList();
        ClientIdentity identity = new ClientIdentity("cluster", "lake", "node", List.of(), Secrets.NONE, 0, IsolationDomain.NONE.description(), Set.of(), Optional.empty());
        try (WorkerAdmin workerAdmin = WorkerAdmin.start(identity, Optional.empty(), Timeouts.DEFAULT);
                ClusterMembership membership = ClusterMembership.start(
                        "lake",
                        () -> nodes,
                        workerAdmin,
                        PORT,
                        60_000,
                        0.5,
                        Long.MAX_VALUE,
                        new CacheEvents(InstantSource.system()))) {
            assertThat(membership.places())
                    .extracting(Place::address)
                    .containsExactly(new WorkerAddress("127.0.0.1", PORT), new WorkerAddress("127.0.0.2", PORT));
        }
    }
}
