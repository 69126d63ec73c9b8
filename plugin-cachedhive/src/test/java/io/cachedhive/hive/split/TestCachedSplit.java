package io.cachedhive.hive.split;

import com.google.common.collect.ImmutableMap;
import com.google.common.net.HostAndPort;
import io.airlift.json.JsonCodec;
import io.airlift.json.JsonCodecFactory;
import io.airlift.json.JsonMapperProvider;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.placement.NodePreference;
import io.cachedhive.plugin.placement.SplitQueues;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.trino.split.CachedSplit;
import io.trino.metadata.HandleJsonModule;
import io.trino.metadata.HandleResolver;
import io.trino.plugin.hive.HivePartitionKey;
import io.trino.plugin.hive.HiveSplit;
import io.trino.plugin.hive.Schema;
import io.trino.spi.HostAddress;
import io.trino.spi.SplitWeight;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.SchemaTableName;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

public class TestCachedSplit
{
    private static final JsonCodec<ConnectorSplit> CODEC = new JsonCodecFactory(
            // as the engine sends splits
            new JsonMapperProvider().withModules(Set.of(HandleJsonModule.splitModule(new HandleResolver()))))
            .jsonCodec(ConnectorSplit.class);
    private static final SchemaTableName TABLE = new SchemaTableName("s", "t");
    private static final HostAndPort NODE = HostAndPort.fromParts("127.0.0.2", 8080);

    @Test
    void testTravelsToWorkers()
    {
        // -1: the epoch is a hash, any bit pattern of a long
        CacheDecision decision = CacheDecision.cache(Optional.of(FillClass.HIGH), OptionalLong.of(5000)).withFillsAsGuests();
        CachedSplit split = CachedSplit.of(hiveSplit(false), NodePreference.always(List.of(NODE)), TABLE, decision, Optional.of(new RingEpoch(-1)));
        assertThat(split.getAddresses()).containsExactly(address(NODE));
        assertThat(split.getAffinityKey()).isEmpty();

        CachedSplit travelled = (CachedSplit) CODEC.fromJson(CODEC.toJson(split));
        assertThat(travelled)
                .usingRecursiveComparison()
                .ignoringFields("nodes", "split.addresses", "split.affinityKey")
                .isEqualTo(split);
        assertThat(travelled.getAddresses()).as("not needed on workers").isEmpty();
        assertThat(travelled.ringEpoch()).contains(new RingEpoch(-1));
        assertThat(travelled.getTable()).isEqualTo(TABLE);
        assertThat(travelled.getDecision()).isEqualTo(decision);
    }

    @Test
    void testBypassTravelsToWorkers()
    {
        CachedSplit split = CachedSplit.of(hiveSplit(false), NodePreference.ANY, TABLE, CacheDecision.BYPASS, Optional.empty());
        assertThat(((CachedSplit) CODEC.fromJson(CODEC.toJson(split))).getDecision()).isEqualTo(CacheDecision.BYPASS);
    }

    @Test
    void testTellsTheEngineWhatTheSplitTells()
    {
        HiveSplit split = hiveSplit(false);
        CachedSplit cached = CachedSplit.of(split, NodePreference.ANY, TABLE, CacheDecision.CACHE.withoutFill(), Optional.empty());
        assertThat(cached.getSplitWeight()).isEqualTo(split.getSplitWeight());
        assertThat(cached.getRetainedSizeInBytes()).isGreaterThan(split.getRetainedSizeInBytes());
        assertThat(CachedSplit.unwrap(cached)).isSameAs(split);
        assertThat(CachedSplit.unwrap(split)).isSameAs(split);
    }

    @Test
    void testSplitThatMustBeReadWhereItIsStaysThere()
    {
        CachedSplit split = CachedSplit.of(hiveSplit(true), NodePreference.always(List.of(NODE)), TABLE, CacheDecision.CACHE, Optional.empty());
        assertThat(split.getAddresses()).containsExactly(HostAddress.fromString("datanode"));
        assertThat(split.isRemotelyAccessible()).isFalse();
    }

    @Test
    void testSplitWithoutPreferenceKeepsItsAddresses()
    {
        CachedSplit split = CachedSplit.of(hiveSplit(false), NodePreference.ANY, TABLE, CacheDecision.BYPASS, Optional.empty());
        assertThat(split.getAddresses()).containsExactly(HostAddress.fromString("datanode"));
        assertThat(split.isRemotelyAccessible()).isTrue();
    }

    @Test
    void testAsksForMoreNodesWhenItHasToWait()
    {
        HostAndPort other = HostAndPort.fromParts("127.0.0.3", 8080);
        CacheWorkerId reader = new CacheWorkerId("reader");
        CacheWorkerId next = new CacheWorkerId("next");
        SplitQueues lines = new SplitQueues(Map.of(reader, List.of(NODE), next, List.of(other)));
        NodePreference waiting = NodePreference.waiting(lines.join(reader, () -> List.of(next)));
        CachedSplit split = CachedSplit.of(hiveSplit(false), waiting, TABLE, CacheDecision.CACHE, Optional.empty());
        // what else the coordinator does with a split asks for no node
        assertThat(split.toString()).contains("s3://lake/t/ds=1/file");
        assertThat(CODEC.toJson(split)).contains("s3://lake/t/ds=1/file");
        assertThat(split.getRetainedSizeInBytes())
                .isGreaterThan(CachedSplit.of(hiveSplit(false), NodePreference.ANY, TABLE, CacheDecision.CACHE, Optional.empty()).getRetainedSizeInBytes());

        assertThat(split.getAddresses()).containsExactly(address(NODE));
        for (int attempt = 0; attempt < 3; attempt++) {
            assertThat(split.getAddresses()).containsExactly(address(NODE), address(other));
        }
        for (int attempt = 0; attempt < 5; attempt++) {
            assertThat(split.getAddresses()).isEmpty();
        }
    }

    private static HostAddress address(HostAndPort node)
    {
        return HostAddress.fromParts(node.getHost(), node.getPort());
    }

    private static HiveSplit hiveSplit(boolean forceLocalScheduling)
    {
        return hiveSplit("s3://lake/t/ds=1/file", 10, 20, forceLocalScheduling);
    }

    static HiveSplit hiveSplit(String path, long start, long length, boolean forceLocalScheduling)
    {
        return hiveSplit(path, start, length, start + length, forceLocalScheduling);
    }

    private static HiveSplit hiveSplit(String path, long start, long length, long fileSize, boolean forceLocalScheduling)
    {
        return new HiveSplit(
                "ds=1",
                path,
                start,
                length,
                fileSize,
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
