package io.cachedhive.plugin.split;

import com.google.common.collect.ImmutableMap;
import io.airlift.json.JsonCodec;
import io.cachedhive.plugin.context.CacheDecision;
import io.cachedhive.protocol.ring.RingEpoch;
import io.trino.plugin.hive.HivePartitionKey;
import io.trino.plugin.hive.HiveSplit;
import io.trino.plugin.hive.Schema;
import io.trino.spi.HostAddress;
import io.trino.spi.SplitWeight;
import io.trino.spi.connector.SchemaTableName;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

import static io.airlift.json.JsonCodec.jsonCodec;
import static org.assertj.core.api.Assertions.assertThat;

class TestCachedHiveSplit
{
    private static final JsonCodec<CachedHiveSplit> CODEC = jsonCodec(CachedHiveSplit.class);
    private static final SchemaTableName TABLE = new SchemaTableName("s", "t");
    private static final HostAddress NODE = HostAddress.fromParts("127.0.0.2", 8080);

    @Test
    void testTravelsToWorkers()
    {
        // -1: the epoch is a hash, any bit pattern of a long
        CachedHiveSplit split = CachedHiveSplit.of(hiveSplit(false), List.of(NODE), TABLE, new CacheDecision(true), Optional.of(new RingEpoch(-1)));
        assertThat(split.getAddresses()).containsExactly(NODE);
        assertThat(split.getAffinityKey()).isEmpty();

        CachedHiveSplit travelled = CODEC.fromJson(CODEC.toJson(split));
        assertThat(travelled)
                .usingRecursiveComparison()
                .ignoringFields("addresses")
                .isEqualTo(split);
        assertThat(travelled.getAddresses()).as("not needed on workers").isEmpty();
        assertThat(travelled.ringEpoch()).contains(new RingEpoch(-1));
        assertThat(travelled.getTable()).isEqualTo(TABLE);
        assertThat(travelled.getDecision()).isEqualTo(new CacheDecision(true));
    }

    @Test
    void testIsHivesSplitInAllElse()
    {
        HiveSplit split = hiveSplit(false);
        assertThat(CachedHiveSplit.of(split, List.of(), TABLE, new CacheDecision(false), Optional.empty()))
                .usingRecursiveComparison()
                .ignoringFields("table", "decision", "epoch", "addresses", "affinityKey")
                .isEqualTo(split);
    }

    @Test
    void testSplitThatMustBeReadWhereItIsStaysThere()
    {
        CachedHiveSplit split = CachedHiveSplit.of(hiveSplit(true), List.of(NODE), TABLE, CacheDecision.CACHE, Optional.empty());
        assertThat(split.getAddresses()).containsExactly(HostAddress.fromString("datanode"));
        assertThat(split.isRemotelyAccessible()).isFalse();
    }

    static HiveSplit hiveSplit(boolean forceLocalScheduling)
    {
        return new HiveSplit(
                "ds=1",
                "s3://lake/t/ds=1/file",
                10,
                20,
                100,
                1234,
                new Schema("serde", false, ImmutableMap.of("columns", "a,b", "columns.types", "int:string")),
                List.of(new HivePartitionKey("ds", "1")),
                List.of(HostAddress.fromString("datanode")),
                Optional.of("affinity"),
                OptionalInt.of(3),
                OptionalInt.of(4),
                forceLocalScheduling,
                ImmutableMap.of(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                SplitWeight.fromProportion(0.5));
    }
}
