package io.cachedhive.client.counters;

import io.cachedhive.protocol.wire.CounterNames;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestReadAhead
{
    private final ClientCounters counters = new ClientCounters();
    private final ReadObserver observer = new ReadObserver();
    private final Map<String, Map<String, Long>> sums = new HashMap<>();

    @Test
    void testCountsWhatIsUsed()
    {
        long[] bytesBySource = new long[ReadSource.values().length];
        bytesBySource[ReadSource.RAM_HIT.ordinal()] = 100;
        bytesBySource[ReadSource.REMOTE_READ.ordinal()] = 50;
        bytesBySource[ReadSource.BYPASS.ordinal()] = 10;
        long[] bypassByCause = new long[BypassCause.values().length];
        bypassByCause[BypassCause.TIMEOUT.ordinal()] = 7;
        bypassByCause[BypassCause.CORRUPT.ordinal()] = 3;
        ReadAhead read = new ReadAhead(counters.table("s.t"), observer, bytesBySource, bypassByCause, 5);

        assertThat(read.unusedBytes()).isEqualTo(160);
        assertThat(sums()).isEmpty();

        read.use(0);
        assertThat(sums()).isEmpty();

        read.use(120);
        assertThat(read.unusedBytes()).isEqualTo(40);
        assertThat(sums()).isEqualTo(Map.of("s.t", Map.of(
                CounterNames.REQUESTS, 1L,
                CounterNames.RAM_HIT_BYTES, 100L,
                CounterNames.RAM_HIT_REQUESTS, 1L,
                CounterNames.REMOTE_READ_BYTES, 20L,
                CounterNames.REMOTE_READ_REQUESTS, 1L)));

        read.use(40);
        assertThat(read.unusedBytes()).isZero();
        assertThat(sums()).isEqualTo(Map.of("s.t", Map.of(
                CounterNames.REQUESTS, 1L,
                CounterNames.RAM_HIT_BYTES, 100L,
                CounterNames.RAM_HIT_REQUESTS, 1L,
                CounterNames.REMOTE_READ_BYTES, 50L,
                CounterNames.REMOTE_READ_REQUESTS, 1L,
                CounterNames.BYPASS_BYTES, 10L,
                CounterNames.BYPASS_REQUESTS, 1L,
                BypassCause.TIMEOUT.counter(), 7L,
                BypassCause.CORRUPT.counter(), 3L)));
        assertThat(observer.totalBytes()).isEqualTo(160);
        assertThat(observer.requests()).isEqualTo(1);
        assertThat(observer.waitNanos()).isEqualTo(5);
        assertThat(observer.waitNanos(ReadSource.BYPASS)).isEqualTo(5);
        assertThat(observer.bypassBytes()).isEqualTo(Map.of(BypassCause.TIMEOUT, 7L, BypassCause.CORRUPT, 3L));
    }

    /**
     * A reader that goes back in its stream asks for the same bytes once more.
     */
    @Test
    void testCountsWhatIsUsedAgain()
    {
        long[] bytesBySource = new long[ReadSource.values().length];
        bytesBySource[ReadSource.SSD_HIT.ordinal()] = 60;
        bytesBySource[ReadSource.BYPASS.ordinal()] = 40;
        long[] bypassByCause = new long[BypassCause.values().length];
        bypassByCause[BypassCause.TIMEOUT.ordinal()] = 40;
        ReadAhead mixed = new ReadAhead(counters.table("s.t"), observer, bytesBySource, bypassByCause, 5);
        mixed.use(50);
        mixed.use(50);
        mixed.use(100);
        mixed.use(1);
        assertThat(mixed.unusedBytes()).isZero();
        assertThat(observer.bytes(ReadSource.SSD_HIT)).isEqualTo(60);
        assertThat(observer.bytes(ReadSource.BYPASS)).isEqualTo(141);
        assertThat(observer.bypassBytes()).isEqualTo(Map.of(BypassCause.TIMEOUT, 141L));
        assertThat(observer.totalBytes()).isEqualTo(201);
        assertThat(observer.requests()).isEqualTo(1);

        bytesBySource[ReadSource.BYPASS.ordinal()] = 0;
        ReadAhead hit = new ReadAhead(counters.table("s.t"), observer, bytesBySource, new long[BypassCause.values().length], 5);
        hit.use(60);
        hit.use(10);
        assertThat(observer.bytes(ReadSource.SSD_HIT)).isEqualTo(130);
        assertThat(observer.totalBytes()).isEqualTo(271);
    }

    @Test
    void testCannotUseMoreThanWasRead()
    {
        ReadAhead read = ReadAhead.ofBypass(counters.table("s.t"), observer, BypassCause.NO_WORKER, 10, 0);
        assertThatThrownBy(() -> read.use(11))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("cannot use 11 of 10 bytes");
        assertThatThrownBy(() -> read.use(-1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /**
     * All that was counted so far, by table.
     */
    private Map<String, Map<String, Long>> sums()
    {
        counters.takeChanges(10, 10_000).forEach((table, change) -> {
            Map<String, Long> sum = sums.computeIfAbsent(table, _ -> new HashMap<>());
            change.forEach((name, value) -> sum.merge(name, value, Long::sum));
        });
        return sums;
    }
}
