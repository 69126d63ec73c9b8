package io.cachedhive.trino.split;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.google.common.net.HostAndPort;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.placement.NodePreference;
import io.cachedhive.protocol.ring.RingEpoch;
import io.trino.spi.HostAddress;
import io.trino.spi.SplitWeight;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.SchemaTableName;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

import static io.airlift.slice.SizeOf.instanceSize;
import static java.util.Objects.requireNonNull;

/**
 * A split of the connector that is read through the cache. Whoever gives splits to the connector gives it the one within.
 *
 * <p>It never has an affinity key, which the engine would follow instead of the addresses.
 */
public final class CachedSplit
        implements ConnectorSplit
{
    private static final int INSTANCE_SIZE = instanceSize(CachedSplit.class);

    private final ConnectorSplit split;
    private final SchemaTableName table;
    private final CacheDecision decision;
    private final OptionalLong epoch;
    // stays on the coordinator
    private final NodePreference nodes;

    @JsonCreator
    public CachedSplit(
            @JsonProperty("split") ConnectorSplit split,
            @JsonProperty("table") SchemaTableName table,
            @JsonProperty("decision") CacheDecision decision,
            @JsonProperty("epoch") OptionalLong epoch)
    {
        this(split, NodePreference.ANY, table, decision, epoch);
    }

    private CachedSplit(ConnectorSplit split, NodePreference nodes, SchemaTableName table, CacheDecision decision, OptionalLong epoch)
    {
        this.split = requireNonNull(split, "split is null");
        this.table = requireNonNull(table, "table is null");
        this.decision = requireNonNull(decision, "decision is null");
        this.epoch = requireNonNull(epoch, "epoch is null");
        this.nodes = requireNonNull(nodes, "nodes is null");
    }

    /**
     * @param nodes that are preferred; those of a split that can only be read where its file is stay its own
     * @param epoch of the ring by which the nodes were chosen; empty if there is no ring yet
     */
    public static CachedSplit of(ConnectorSplit split, NodePreference nodes, SchemaTableName table, CacheDecision decision, Optional<RingEpoch> epoch)
    {
        return new CachedSplit(split, nodes, table, decision, epoch.map(value -> OptionalLong.of(value.value())).orElseGet(OptionalLong::empty));
    }

    /**
     * The connector's own split.
     */
    public static ConnectorSplit unwrap(ConnectorSplit split)
    {
        return split instanceof CachedSplit cached ? cached.split : split;
    }

    @JsonProperty
    public ConnectorSplit getSplit()
    {
        return split;
    }

    /**
     * The table as the query names it, for counters and policy.
     */
    @JsonProperty
    public SchemaTableName getTable()
    {
        return table;
    }

    @JsonProperty
    public CacheDecision getDecision()
    {
        return decision;
    }

    @JsonProperty
    public OptionalLong getEpoch()
    {
        return epoch;
    }

    public Optional<RingEpoch> ringEpoch()
    {
        return epoch.isPresent() ? Optional.of(new RingEpoch(epoch.getAsLong())) : Optional.empty();
    }

    @Override
    public boolean isRemotelyAccessible()
    {
        return split.isRemotelyAccessible();
    }

    /**
     * The preferred nodes for the next attempt to place the split: the engine asks once at each, and nobody else may ask. Without a preference, the connector's own,
     * such as the hosts that have the blocks of the file in HDFS.
     */
    @Override
    public List<HostAddress> getAddresses()
    {
        if (!isRemotelyAccessible() || nodes.isAny()) {
            return split.getAddresses();
        }
        return nodes.next().stream().map(CachedSplit::address).toList();
    }

    private static HostAddress address(HostAndPort node)
    {
        return node.hasPort() ? HostAddress.fromParts(node.getHost(), node.getPort()) : HostAddress.fromString(node.getHost());
    }

    @Override
    public Optional<String> getAffinityKey()
    {
        return Optional.empty();
    }

    @Override
    public SplitWeight getSplitWeight()
    {
        return split.getSplitWeight();
    }

    /**
     * Whether there are nodes that it is to be read by.
     */
    public boolean prefersNodes()
    {
        return !nodes.isAny();
    }

    /**
     * Splits of a batch with a lower turn are to be given to the engine before those with a higher one.
     */
    int turn()
    {
        return nodes.turn();
    }

    @Override
    public long getRetainedSizeInBytes()
    {
        // the table and the decision are shared by all splits of a scan
        return split.getRetainedSizeInBytes() + INSTANCE_SIZE + nodes.retainedSizeInBytes();
    }

    @Override
    public String toString()
    {
        return split.toString();
    }
}
