package io.cachedhive.hive.ahead;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.hive.connector.HiveAdapter;
import io.cachedhive.plugin.ahead.FetchAhead;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.placement.NodePreference;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.trino.ahead.AnnouncingSplitManager;
import io.cachedhive.trino.split.CachedSplit;
import io.trino.plugin.hive.HiveSplit;
import io.trino.plugin.hive.Schema;
import io.trino.spi.SplitWeight;
import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorSplitManager;
import io.trino.spi.connector.ConnectorSplitSource;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.Constraint;
import io.trino.spi.connector.DynamicFilterSnapshot;
import io.trino.spi.connector.FixedSplitSource;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.predicate.TupleDomain;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

class TestAnnouncingSplitSource
{
    private static final WorkerAddress WORKER = new WorkerAddress("host1", 8484);
    private static final PublishedRing RING = new PublishedRing(
            HashRing.of(List.of(new RingMember(new CacheWorkerId("worker1"), 1, Optional.empty()))),
            Map.of(new CacheWorkerId("worker1"), WORKER),
            1);
    private static final FileOrigins ORIGINS = FileOrigins.of("default", Map.of("fs.s3.enabled", "true", "s3.region", "us-east-1"), false);

    private final List<FileVersion> announced = new ArrayList<>();
    private final List<CompletableFuture<Void>> answers = new ArrayList<>();
    private Optional<PublishedRing> ring = Optional.of(RING);
    private boolean refusing;

    private final FetchAhead fetchAhead = new FetchAhead(ORIGINS, 512 << 20, () -> ring, Optional.of((worker, origin, _, table, files, terms) -> {
        assertThat(worker).isEqualTo(WORKER);
        if (refusing) {
            throw new IllegalStateException("refused");
        }
        assertThat(ORIGINS.origins().get(origin).id()).isEqualTo(files.getFirst().origin());
        assertThat(table).isEqualTo("s.t");
        assertThat(terms).isEqualTo(FillTerms.UNSPECIFIED);
        announced.addAll(files);
        CompletableFuture<Void> answer = new CompletableFuture<>();
        answers.add(answer);
        return answer;
    }));

    private static CachedSplit split(String path, long start, long length, long fileSize, CacheDecision decision)
    {
        return split(path, start, length, fileSize, decision, RING);
    }

    private static CachedSplit split(String path, long start, long length, long fileSize, CacheDecision decision, PublishedRing ring)
    {
        HiveSplit split = new HiveSplit(
                "ds=1",
                path,
                start,
                length,
                fileSize,
                1234,
                new Schema("serde", false, ImmutableMap.of()),
                List.of(),
                List.of(),
                Optional.empty(),
                OptionalInt.empty(),
                OptionalInt.empty(),
                false,
                ImmutableMap.of(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                SplitWeight.standard());
        return CachedSplit.of(split, NodePreference.ANY, new SchemaTableName("s", "t"), decision, Optional.of(ring.epoch()));
    }

    private static ConnectorSplitSource announcing(FetchAhead fetchAhead, ConnectorSplitSource splits)
    {
        ConnectorSplitManager manager = new ConnectorSplitManager()
        {
            @Override
            public ConnectorSplitSource getSplits(
                    ConnectorTransactionHandle transaction,
                    ConnectorSession session,
                    ConnectorTableHandle table,
                    Set<ColumnHandle> dynamicFilterColumns,
                    Constraint constraint)
            {
                return splits;
            }
        };
        return new AnnouncingSplitManager(manager, new HiveAdapter(), fetchAhead).getSplits(null, null, null, Set.of(), Constraint.alwaysTrue());
    }

    private static PublishedRing ring(List<RingMember> members)
    {
        return new PublishedRing(HashRing.of(members), Map.of(new CacheWorkerId("worker1"), WORKER, new CacheWorkerId("worker2"), WORKER), 2);
    }

    private static RingMember member(String id, Optional<String> zone)
    {
        return new RingMember(new CacheWorkerId(id), 1, zone);
    }

    private static CachedSplit smallFile(int number)
    {
        return split("s3://lake/t/" + number, 0, 1000, 1000, CacheDecision.CACHE);
    }

    private static List<ConnectorSplit> next(ConnectorSplitSource source, int count)
    {
        return source.getNextBatch(count, new DynamicFilterSnapshot(TupleDomain.all(), true)).join();
    }

    @Test
    void testOnlyWholeSmallFilesThatAreToBeFilled()
    {
        List<ConnectorSplit> splits = List.of(
                smallFile(1),
                split("s3://lake/t/part", 0, 500, 1000, CacheDecision.CACHE),
                split("s3://lake/t/end", 500, 500, 1000, CacheDecision.CACHE),
                split("s3://lake/t/large", 0, 2 << 20, 2 << 20, CacheDecision.CACHE),
                split("s3://lake/t/empty", 0, 0, 0, CacheDecision.CACHE),
                split("s3://lake/t/unfilled", 0, 1000, 1000, CacheDecision.CACHE.withoutFill()),
                split("hdfs://lake/t/elsewhere", 0, 1000, 1000, CacheDecision.CACHE),
                smallFile(2));
        ConnectorSplitSource source = announcing(fetchAhead, new FixedSplitSource(splits));
        assertThat(next(source, 100)).isEqualTo(splits);
        assertThat(announced).extracting(FileVersion::location).containsExactly("s3://lake/t/1", "s3://lake/t/2");
        assertThat(announced).extracting(FileVersion::length).containsOnly(1000L);
        assertThat(announced).extracting(FileVersion::lastModifiedMillis).containsOnly(1234L);
    }

    @Test
    void testTakenBackWhenTheScanEndsEarly()
    {
        ConnectorSplitSource source = announcing(fetchAhead, new FixedSplitSource(IntStream.range(0, 10).mapToObj(TestAnnouncingSplitSource::smallFile).toList()));
        next(source, 4);
        assertThat(announced).hasSize(4);
        source.close();
        assertThat(answers).allMatch(CompletableFuture::isCancelled);
    }

    @Test
    void testLeftWhenAllSplitsWereGivenOut()
    {
        ConnectorSplitSource source = announcing(fetchAhead, new FixedSplitSource(IntStream.range(0, 10).mapToObj(TestAnnouncingSplitSource::smallFile).toList()));
        next(source, 10);
        assertThat(source.isFinished()).isTrue();
        source.close();
        assertThat(answers).noneMatch(CompletableFuture::isDone);
    }

    /**
     * Hive's source of splits that failed says so when it is asked whether it is finished.
     */
    @Test
    void testFailedSourceIsClosed()
    {
        AtomicInteger closed = new AtomicInteger();
        ConnectorSplitSource failed = new FixedSplitSource(List.of(smallFile(1), smallFile(2)))
        {
            @Override
            public boolean isFinished()
            {
                throw new IllegalStateException("a partition cannot be listed");
            }

            @Override
            public void close()
            {
                closed.incrementAndGet();
            }
        };
        ConnectorSplitSource source = announcing(fetchAhead, failed);
        next(source, 1);
        assertThat(announced).hasSize(1);
        source.close();
        assertThat(closed).hasValue(1);
        assertThat(answers).allMatch(CompletableFuture::isCancelled);
    }

    @Test
    void testSplitsAreGivenOutThoughTheyCannotBeAnnounced()
    {
        refusing = true;
        ConnectorSplitSource source = announcing(fetchAhead, new FixedSplitSource(List.of(smallFile(1), smallFile(2))));
        assertThat(next(source, 10)).hasSize(2);
        assertThat(announced).isEmpty();
        source.close();
    }

    @Test
    void testOnlyWhereTheReadersOwnerIsKnown()
    {
        // placed by a ring that is not the newest
        ring = Optional.of(ring(List.of(member("worker1", Optional.empty()), member("worker2", Optional.empty()))));
        next(announcing(fetchAhead, new FixedSplitSource(List.of(smallFile(1)))), 10);
        assertThat(announced).isEmpty();

        // read by a node of either zone
        PublishedRing zoned = ring(List.of(member("worker1", Optional.of("a")), member("worker2", Optional.of("b"))));
        ring = Optional.of(zoned);
        next(announcing(fetchAhead, new FixedSplitSource(List.of(split("s3://lake/t/1", 0, 1000, 1000, CacheDecision.CACHE, zoned)))), 10);
        assertThat(announced).isEmpty();

        PublishedRing unzoned = ring(List.of(member("worker1", Optional.of("a")), member("worker2", Optional.of("a"))));
        ring = Optional.of(unzoned);
        next(announcing(fetchAhead, new FixedSplitSource(List.of(split("s3://lake/t/1", 0, 1000, 1000, CacheDecision.CACHE, unzoned)))), 10);
        assertThat(announced).hasSize(1);
    }

    @Test
    void testNothingWithoutRingOrWhenSwitchedOff()
    {
        ConnectorSplitSource splits = new FixedSplitSource(List.of(smallFile(1)));
        assertThat(announcing(new FetchAhead(ORIGINS, 512 << 20, () -> ring, Optional.empty()), splits)).isSameAs(splits);
        ring = Optional.empty();
        assertThat(announcing(fetchAhead, splits)).isSameAs(splits);
    }
}
