package io.cachedhive.client.counters;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.StatusMessage.Usage;
import org.junit.jupiter.api.Test;

import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class TestUsageBatches
{
    private final ClientCounters counters = new ClientCounters();
    private final HitLog hits = new HitLog(100);
    private final Digest128 client = new Digest128(1, 2);
    private final UsageBatches batches = new UsageBatches(client, counters, hits);
    private final ReadObserver observer = new ReadObserver();

    @Test
    void testDifferences()
    {
        assertThat(batches.next()).isEmpty();

        counters.table("s.a").addHit(observer, 10);
        counters.addRequested("s.b", 5);
        Usage first = batches.next().orElseThrow();
        assertThat(first.client()).isEqualTo(client);
        assertThat(first.batch()).isEqualTo(1);
        assertThat(first.counters()).isEqualTo(Map.of(
                "s.a", Map.of(CounterNames.REQUESTS, 1L, CounterNames.RAM_HIT_BYTES, 10L, CounterNames.RAM_HIT_REQUESTS, 1L),
                "s.b", Map.of(CounterNames.REQUESTED_BYTES, 5L)));
        batches.acknowledged(1);
        assertThat(batches.next()).isEmpty();

        counters.table("s.a").addBypass(observer, BypassCause.TIMEOUT, 7, 1);
        Usage second = batches.next().orElseThrow();
        assertThat(second.batch()).isEqualTo(2);
        assertThat(second.counters()).isEqualTo(Map.of("s.a", Map.of(
                CounterNames.REQUESTS, 1L,
                CounterNames.BYPASS_BYTES, 7L,
                CounterNames.BYPASS_REQUESTS, 1L,
                "bypass_bytes_timeout", 7L)));
    }

    @Test
    void testWithoutAnswerTheSameAgain()
    {
        counters.addRequested("s.a", 10);
        Usage first = batches.next().orElseThrow();
        counters.addRequested("s.a", 3);
        assertThat(batches.next()).contains(first);
        // an answer to something else
        batches.acknowledged(7);
        assertThat(batches.next()).contains(first);
        batches.acknowledged(1);
        assertThat(batches.next().orElseThrow().counters()).isEqualTo(Map.of("s.a", Map.of(CounterNames.REQUESTED_BYTES, 3L)));
        // twice
        batches.acknowledged(1);
        assertThat(batches.next().orElseThrow().batch()).isEqualTo(2);
    }

    @Test
    void testHits()
    {
        hits.add(1, 1);
        hits.add(1, 1);
        hits.add(2, 2);
        Usage batch = batches.next().orElseThrow();
        assertThat(batch.counters()).isEmpty();
        assertThat(batch.hits()).containsExactly(new Digest128(1, 1), new Digest128(2, 2));
        batches.acknowledged(1);
        assertThat(batches.next()).isEmpty();
    }

    @Test
    void testHitsAreBounded()
    {
        for (int i = 0; i < 1000; i++) {
            hits.add(i, -i);
        }
        assertThat(hits.drain()).hasSizeBetween(1, 104).contains(new Digest128(0, 0));
        assertThat(hits.drain()).isEmpty();
    }
}
