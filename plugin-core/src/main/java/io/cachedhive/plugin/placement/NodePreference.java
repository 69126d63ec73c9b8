package io.cachedhive.plugin.placement;

import com.google.common.net.HostAndPort;

import java.util.List;

import static io.airlift.slice.SizeOf.instanceSize;
import static java.util.Objects.requireNonNull;

/**
 * The nodes that a split asks the engine for, attempt by attempt.
 */
public final class NodePreference
{
    /**
     * Any node at all attempts.
     */
    public static final NodePreference ANY = always(List.of());

    private static final int INSTANCE_SIZE = instanceSize(NodePreference.class);

    private final List<HostAndPort> nodes;
    // null if all attempts are alike
    private final SplitQueues.Split waiting;
    private final boolean passedOn;

    private NodePreference(List<HostAndPort> nodes, SplitQueues.Split waiting, boolean passedOn)
    {
        this.nodes = requireNonNull(nodes, "nodes is null");
        this.waiting = waiting;
        this.passedOn = passedOn;
    }

    public static NodePreference always(List<HostAndPort> nodes)
    {
        return new NodePreference(nodes, null, false);
    }

    public static NodePreference waiting(SplitQueues.Split split)
    {
        return new NodePreference(List.of(), requireNonNull(split, "split is null"), false);
    }

    /**
     * For a split whose reader had its share: it goes to its chunk's second, in all scans alike.
     */
    static NodePreference passedOn(SplitQueues.Split split)
    {
        return new NodePreference(List.of(), requireNonNull(split, "split is null"), true);
    }

    /**
     * Whether the split goes to its chunk's second in this scan and most likely in the next.
     */
    public boolean isPassedOn()
    {
        return passedOn;
    }

    /**
     * Whether all nodes are alike to it.
     */
    public boolean isAny()
    {
        return waiting == null && nodes.isEmpty();
    }

    /**
     * For the next attempt to place the split. Empty for any node.
     */
    public List<HostAndPort> next()
    {
        return waiting == null ? nodes : waiting.ask();
    }

    /**
     * Splits with a lower one are to be given to the engine before those with a higher one, which might take their nodes from them.
     */
    public int turn()
    {
        if (waiting != null) {
            return waiting.turn();
        }
        return nodes.isEmpty() ? Integer.MAX_VALUE : 0;
    }

    public long retainedSizeInBytes()
    {
        // the nodes are the ring's, not the split's
        return (long) INSTANCE_SIZE + (waiting == null ? 0 : SplitQueues.Split.INSTANCE_SIZE);
    }
}
