package io.cachedhive.plugin.split;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.placement.NodePreference;
import io.cachedhive.protocol.ring.RingEpoch;
import io.trino.metastore.HiveTypeName;
import io.trino.plugin.hive.AcidInfo;
import io.trino.plugin.hive.HivePartitionKey;
import io.trino.plugin.hive.HiveSplit;
import io.trino.plugin.hive.Schema;
import io.trino.spi.HostAddress;
import io.trino.spi.SplitWeight;
import io.trino.spi.connector.SchemaTableName;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

import static io.airlift.slice.SizeOf.instanceSize;
import static java.util.Objects.requireNonNull;

/**
 * A split of Hive that is read through the cache. Hive's own classes take it for theirs.
 *
 * <p>It never has an affinity key, which the engine would follow instead of the addresses.
 */
public final class CachedHiveSplit
        extends HiveSplit
{
    private static final int INSTANCE_SIZE = instanceSize(CachedHiveSplit.class);

    private final SchemaTableName table;
    private final CacheDecision decision;
    private final OptionalLong epoch;
    // stays on the coordinator
    private final NodePreference nodes;

    @JsonCreator
    public CachedHiveSplit(
            @JsonProperty("partitionName") String partitionName,
            @JsonProperty("path") String path,
            @JsonProperty("start") long start,
            @JsonProperty("length") long length,
            @JsonProperty("estimatedFileSize") long estimatedFileSize,
            @JsonProperty("fileModifiedTime") long fileModifiedTime,
            @JsonProperty("schema") Schema schema,
            @JsonProperty("partitionKeys") List<HivePartitionKey> partitionKeys,
            @JsonProperty("readBucketNumber") OptionalInt readBucketNumber,
            @JsonProperty("tableBucketNumber") OptionalInt tableBucketNumber,
            @JsonProperty("forceLocalScheduling") boolean forceLocalScheduling,
            @JsonProperty("hiveColumnCoercions") Map<Integer, HiveTypeName> hiveColumnCoercions,
            @JsonProperty("bucketConversion") Optional<BucketConversion> bucketConversion,
            @JsonProperty("bucketValidation") Optional<BucketValidation> bucketValidation,
            @JsonProperty("acidInfo") Optional<AcidInfo> acidInfo,
            @JsonProperty("splitWeight") SplitWeight splitWeight,
            @JsonProperty("table") SchemaTableName table,
            @JsonProperty("decision") CacheDecision decision,
            @JsonProperty("epoch") OptionalLong epoch)
    {
        super(
                partitionName,
                path,
                start,
                length,
                estimatedFileSize,
                fileModifiedTime,
                schema,
                partitionKeys,
                readBucketNumber,
                tableBucketNumber,
                forceLocalScheduling,
                hiveColumnCoercions,
                bucketConversion,
                bucketValidation,
                acidInfo,
                splitWeight);
        this.table = requireNonNull(table, "table is null");
        this.decision = requireNonNull(decision, "decision is null");
        this.epoch = requireNonNull(epoch, "epoch is null");
        this.nodes = NodePreference.ANY;
    }

    private CachedHiveSplit(HiveSplit split, List<HostAddress> addresses, NodePreference nodes, SchemaTableName table, CacheDecision decision, OptionalLong epoch)
    {
        super(
                split.getPartitionName(),
                split.getPath(),
                split.getStart(),
                split.getLength(),
                split.getEstimatedFileSize(),
                split.getFileModifiedTime(),
                split.getSchema(),
                split.getPartitionKeys(),
                addresses,
                Optional.empty(),
                split.getReadBucketNumber(),
                split.getTableBucketNumber(),
                split.isForceLocalScheduling(),
                split.getHiveColumnCoercions(),
                split.getBucketConversion(),
                split.getBucketValidation(),
                split.getAcidInfo(),
                split.getSplitWeight());
        this.table = requireNonNull(table, "table is null");
        this.decision = requireNonNull(decision, "decision is null");
        this.epoch = requireNonNull(epoch, "epoch is null");
        this.nodes = requireNonNull(nodes, "nodes is null");
    }

    /**
     * @param nodes that are preferred; those of a split that can only be read where its file is stay its own
     * @param epoch of the ring by which the nodes were chosen; empty if there is no ring yet
     */
    public static CachedHiveSplit of(HiveSplit split, NodePreference nodes, SchemaTableName table, CacheDecision decision, Optional<RingEpoch> epoch)
    {
        return new CachedHiveSplit(
                split,
                split.isRemotelyAccessible() ? List.of() : split.getAddresses(),
                nodes,
                table,
                decision,
                epoch.map(value -> OptionalLong.of(value.value())).orElseGet(OptionalLong::empty));
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

    /**
     * The preferred nodes for the next attempt to place the split: the engine asks once at each, and nobody else may ask.
     */
    @JsonIgnore
    @Override
    public List<HostAddress> getAddresses()
    {
        return isRemotelyAccessible() ? nodes.next() : super.getAddresses();
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
        return super.getRetainedSizeInBytes() + INSTANCE_SIZE - instanceSize(HiveSplit.class) + nodes.retainedSizeInBytes();
    }
}
