package io.cachedhive.plugin.split;

import io.trino.spi.HostAddress;

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

    private final List<HostAddress> nodes;
    // null if all attempts are alike
    private final WaitingLines.Split waiting;

    private NodePreference(List<HostAddress> nodes, WaitingLines.Split waiting)
    {
        this.nodes = requireNonNull(nodes, "nodes is null");
        this.waiting = waiting;
    }

    static NodePreference always(List<HostAddress> nodes)
    {
        return new NodePreference(nodes, null);
    }

    static NodePreference waiting(WaitingLines.Split split)
    {
        return new NodePreference(List.of(), requireNonNull(split, "split is null"));
    }

    /**
     * For the next attempt to place the split. Empty for any node.
     */
    List<HostAddress> next()
    {
        return waiting == null ? nodes : waiting.ask();
    }

    /**
     * Splits with a lower one are to be given to the engine before those with a higher one, which might take their nodes from them.
     */
    int turn()
    {
        if (waiting != null) {
            return waiting.turn();
        }
        return nodes.isEmpty() ? Integer.MAX_VALUE : 0;
    }

    long retainedSizeInBytes()
    {
        // the nodes are the ring's, not the split's
        return INSTANCE_SIZE + (waiting == null ? 0 : WaitingLines.Split.INSTANCE_SIZE);
    }
}
