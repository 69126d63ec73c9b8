package io.cachedhive.client.counters;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.StatusMessage.Usage;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

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
        assertThat(batches.nextHits()).contains(first);
        batches.acknowledged(1);
        assertThat(batches.next().orElseThrow().counters()).isEqualTo(Map.of("s.a", Map.of(CounterNames.REQUESTED_BYTES, 3L)));
        // twice
        batches.acknowledged(1);
        assertThat(batches.next().orElseThrow().batch()).isEqualTo(2);
    }

    @Test
    void testTheLast()
    {
        assertThat(batches.last()).isEmpty();
        counters.addRequested("s.a", 10);
        Usage first = batches.next().orElseThrow();
        counters.addRequested("s.a", 3);
        hits.add(1, 1);
        List<Usage> last = batches.last();
        assertThat(last).hasSize(2).first().isEqualTo(first);
        assertThat(last.getLast().batch()).isEqualTo(2);
        assertThat(last.getLast().counters()).isEqualTo(Map.of("s.a", Map.of(CounterNames.REQUESTED_BYTES, 3L)));
        assertThat(last.getLast().hits()).containsExactly(new Digest128(1, 1));
        assertThat(batches.next()).isEmpty();
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

    /**
     * Batches between reports, which request blocks ahead, have no counters, and need not be written there.
     */
    @Test
    void testHitsAlone()
    {
        counters.addRequested("s.a", 10);
        assertThat(batches.nextHits()).isEmpty();
        hits.add(1, 1);
        Usage batch = batches.nextHits().orElseThrow();
        assertThat(batch.counters()).isEmpty();
        assertThat(batch.hits()).containsExactly(new Digest128(1, 1));
        batches.acknowledged(batch.batch());
        assertThat(batches.next().orElseThrow().counters()).isEqualTo(Map.of("s.a", Map.of(CounterNames.REQUESTED_BYTES, 10L)));
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

    /**
     * Idle work is proportional to what changed, however many tables were read before.
     */
    @Test
    void testOnlyChangedTablesAreVisited()
    {
        int tables = 100_000;
        for (int i = 0; i < tables; i++) {
            counters.addRequested("s.table" + i, 1);
        }
        assertThat(counters.knownTables()).isEqualTo(tables);
        int reported = 0;
        while (true) {
            Optional<Usage> batch = batches.next();
            if (batch.isEmpty()) {
                break;
            }
            assertThat(batch.get().counters()).hasSizeLessThanOrEqualTo(Usage.MAX_TABLES);
            assertThat(batch.get().toFrame(1).remaining()).isLessThan(2 * UsageBatches.BATCH_BYTES);
            reported += batch.get().counters().size();
            batches.acknowledged(batch.get().batch());
        }
        assertThat(reported).isEqualTo(tables);
        // each once with its change, and once without
        drain();
        assertThat(counters.visits()).isEqualTo(2 * tables);
        assertThat(counters.knownTables()).isZero();

        for (int tick = 0; tick < 1000; tick++) {
            assertThat(batches.next()).isEmpty();
        }
        assertThat(counters.visits()).isEqualTo(2 * tables);

        counters.addRequested("s.table5", 1);
        drain();
        assertThat(counters.visits()).isEqualTo(2 * tables + 2);
        // forgotten tables stay in the totals
        assertThat(counters.get(CounterNames.REQUESTED_BYTES)).isEqualTo(tables + 1);
    }

    private void drain()
    {
        for (int i = 0; counters.knownTables() > 0 && i < 1000; i++) {
            batches.next().ifPresent(batch -> batches.acknowledged(batch.batch()));
        }
    }

    /**
     * A file that stays open keeps its counters when the table is forgotten, and what it counts later is reported.
     */
    @Test
    void testOpenFileOfAForgottenTable()
    {
        ClientCounters.TableCounters open = counters.table("s.a");
        open.addHit(observer, 10);
        drain();
        assertThat(counters.knownTables()).isZero();
        assertThat(counters.table("s.a")).isNotSameAs(open);

        open.addHit(observer, 5);
        counters.table("s.a").addHit(observer, 7);
        Usage batch = batches.next().orElseThrow();
        assertThat(batch.counters()).isEqualTo(Map.of("s.a", Map.of(CounterNames.REQUESTS, 2L, CounterNames.RAM_HIT_BYTES, 12L, CounterNames.RAM_HIT_REQUESTS, 2L)));
        batches.acknowledged(batch.batch());
        drain();
        assertThat(batches.next()).isEmpty();
        assertThat(counters.get(CounterNames.RAM_HIT_BYTES)).isEqualTo(22);
    }

    @Test
    void testTablesBeyondTheLimit()
    {
        counters.addRequested("s." + "x".repeat(2000), 3);
        for (int i = 0; i < 100_010; i++) {
            counters.addRequested("s.table" + i, 1);
        }
        assertThat(counters.knownTables()).isEqualTo(100_000);
        // with the one whose name is too long
        assertThat(batches.next().orElseThrow().counters().get(ClientCounters.OTHER_TABLES)).isEqualTo(Map.of(CounterNames.REQUESTED_BYTES, 3L + 11));
    }

    /**
     * Readers count while batches are taken and lost: each byte is reported once.
     */
    @Test
    void testNothingIsLostBesideReaders()
            throws Exception
    {
        int readers = 4;
        int reads = 50_000;
        Map<String, Long> sums = new HashMap<>();
        long counted = 0;
        try (ExecutorService executor = Executors.newFixedThreadPool(readers)) {
            List<Future<?>> futures = new ArrayList<>();
            for (int reader = 0; reader < readers; reader++) {
                futures.add(executor.submit(() -> {
                    for (int i = 0; i < reads; i++) {
                        counters.table("s.table" + i % 7).addHit(observer, 1);
                    }
                }));
            }
            while (true) {
                boolean done = futures.stream().allMatch(Future::isDone);
                Optional<Usage> batch = batches.next();
                if (batch.isPresent() && batch.get().batch() > counted) {
                    counted = batch.get().batch();
                    batch.get().counters().values().forEach(change -> change.forEach((name, value) -> sums.merge(name, value, Long::sum)));
                    if (counted % 3 != 0) {
                        // the reply to every third batch is lost once
                        batches.acknowledged(counted);
                    }
                }
                else if (batch.isPresent()) {
                    batches.acknowledged(counted);
                }
                else if (done && counters.knownTables() == 0) {
                    break;
                }
            }
            for (Future<?> future : futures) {
                future.get();
            }
        }
        long all = (long) readers * reads;
        assertThat(sums).isEqualTo(Map.of(CounterNames.REQUESTS, all, CounterNames.RAM_HIT_BYTES, all, CounterNames.RAM_HIT_REQUESTS, all));
        assertThat(counters.get(CounterNames.RAM_HIT_BYTES)).isEqualTo(all);
    }
}
