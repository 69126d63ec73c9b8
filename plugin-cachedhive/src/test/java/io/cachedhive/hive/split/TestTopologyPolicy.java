package io.cachedhive.hive.split;

import com.google.common.net.HostAndPort;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.placement.NodePreference;
import io.cachedhive.plugin.placement.SplitQueues;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.trino.split.CachedSplit;
import io.trino.execution.NodeTaskMap;
import io.trino.execution.scheduler.NetworkLocation;
import io.trino.execution.scheduler.NodeSchedulerConfig;
import io.trino.execution.scheduler.NodeSelector;
import io.trino.execution.scheduler.StableHostAddressProvider;
import io.trino.execution.scheduler.StableHostAddressProviderConfig;
import io.trino.execution.scheduler.TopologyAwareNodeSelectorConfig;
import io.trino.execution.scheduler.TopologyAwareNodeSelectorFactory;
import io.trino.metadata.Split;
import io.trino.node.InternalNode;
import io.trino.node.TestingInternalNodeManager;
import io.trino.spi.NodeVersion;
import io.trino.spi.connector.SchemaTableName;
import io.trino.util.FinalizerService;
import org.junit.jupiter.api.Test;

import java.net.URI;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

import static com.google.common.collect.ImmutableMap.toImmutableMap;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.trino.testing.TestingHandles.TEST_CATALOG_HANDLE;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code node-scheduler.policy=topology}: the engine prefers the node of a split's address, then nodes of the same rack, then any.
 */
class TestTopologyPolicy
{
    private static final SchemaTableName TABLE = new SchemaTableName("s", "t");
    private static final int PORT = 8080;

    // two in each rack; 127.0.0.1 is the coordinator's
    private final List<InternalNode> nodes = IntStream.rangeClosed(2, 5)
            .mapToObj(number -> new InternalNode("node-" + number, URI.create("http://127.0.0.%s:%s".formatted(number, PORT)), NodeVersion.UNKNOWN, false))
            .toList();
    private final Map<CacheWorkerId, List<HostAndPort>> nodesOfReaders = nodes.stream()
            .collect(toImmutableMap(TestTopologyPolicy::reader, node -> List.of(HostAndPort.fromParts(node.getHost(), PORT))));
    private final SplitQueues queues = new SplitQueues(nodesOfReaders);

    @Test
    void testSplitsRunOnTheirNodes()
    {
        Map<Split, InternalNode> preferred = new LinkedHashMap<>();
        for (int number = 0; number < 40; number++) {
            InternalNode node = nodes.get(number % nodes.size());
            preferred.put(split(number, node), node);
        }

        Map<Split, InternalNode> assigned = assign(preferred.keySet(), new NodeSchedulerConfig());

        assertThat(assigned).isEqualTo(preferred);
    }

    @Test
    void testFullNodeHoldsUpNoSplit()
    {
        InternalNode node = nodes.getFirst();
        List<Split> splits = IntStream.range(0, 40).mapToObj(number -> split(number, node)).toList();

        NodeSchedulerConfig config = new NodeSchedulerConfig().setMaxSplitsPerNode(16).setMaxAdjustedPendingSplitsWeightPerTask(16).setMinPendingSplitsPerTask(4);
        Map<Split, InternalNode> assigned = assign(splits, config);

        assertThat(assigned.values().stream().filter(node::equals)).as("those that have space there").hasSizeGreaterThanOrEqualTo(16);
        assertThat(assigned.keySet()).as("others run in the rack, or elsewhere").containsExactlyInAnyOrderElementsOf(splits);
    }

    private Split split(int number, InternalNode node)
    {
        NodePreference preference = NodePreference.waiting(queues.join(reader(node), List::of));
        return new Split(
                TEST_CATALOG_HANDLE,
                CachedSplit.of(TestCachedSplit.hiveSplit("s3://lake/t/file-" + number, 0, 10, false), preference, TABLE, CacheDecision.CACHE, Optional.empty()));
    }

    private static CacheWorkerId reader(InternalNode node)
    {
        return new CacheWorkerId("reader-of-" + node.getNodeIdentifier());
    }

    private Map<Split, InternalNode> assign(Collection<Split> splits, NodeSchedulerConfig config)
    {
        TestingInternalNodeManager nodeManager = TestingInternalNodeManager.createDefault(nodes.toArray(InternalNode[]::new));
        NodeSelector selector = new TopologyAwareNodeSelectorFactory(
                address -> new NetworkLocation(address.getHostText().compareTo("127.0.0.3") <= 0 ? "rack-1" : "rack-2", address.getHostText()),
                nodes.getFirst(),
                nodeManager,
                config,
                new NodeTaskMap(new FinalizerService()),
                new TopologyAwareNodeSelectorConfig().setLocationSegmentNames(List.of("rack", "machine")),
                new StableHostAddressProvider(nodeManager, new StableHostAddressProviderConfig()))
                .createNodeSelector(testSessionBuilder().build());
        return selector.computeAssignments(splits.stream().collect(toImmutableSet()), List.of()).getAssignments().entries().stream()
                .collect(toImmutableMap(Map.Entry::getValue, Map.Entry::getKey));
    }
}
