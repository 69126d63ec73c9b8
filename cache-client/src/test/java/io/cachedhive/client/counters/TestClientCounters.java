package io.cachedhive.client.counters;

import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.NoCause;
import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class TestClientCounters
{
    @Test
    void testTotals()
    {
        ClientCounters counters = new ClientCounters();
        ReadObserver observer = new ReadObserver();
        assertThat(counters.get(CounterNames.REQUESTS)).isZero();
        assertThat(counters.totals()).containsEntry(CounterNames.SSD_HIT_BYTES, 0L).doesNotContainKey(BypassCause.TIMEOUT.counter());

        long[] bytes = new long[ReadSource.values().length];
        bytes[ReadSource.RAM_HIT.ordinal()] = 10;
        bytes[ReadSource.REMOTE_READ.ordinal()] = 20;
        counters.table("s.a").addRead(observer, bytes, 100);
        counters.table("s.b").addHit(observer, 5);
        counters.table("s.b").addBypass(observer, BypassCause.NO_WORKER, 3, 50);

        assertThat(counters.get(CounterNames.REQUESTS)).isEqualTo(3);
        assertThat(counters.get(CounterNames.RAM_HIT_BYTES)).isEqualTo(15);
        assertThat(counters.get(CounterNames.RAM_HIT_REQUESTS)).isEqualTo(2);
        assertThat(counters.get(CounterNames.REMOTE_READ_REQUESTS)).isEqualTo(1);
        assertThat(counters.get("bypass_bytes_no_worker")).isEqualTo(3);
        assertThat(counters.get("of no interest")).isZero();
        assertThat(counters.takeChanges(10, 10_000).get("s.a")).isEqualTo(Map.of(
                CounterNames.REQUESTS, 1L,
                CounterNames.RAM_HIT_BYTES, 10L,
                CounterNames.RAM_HIT_REQUESTS, 1L,
                CounterNames.REMOTE_READ_BYTES, 20L,
                CounterNames.REMOTE_READ_REQUESTS, 1L));

        assertThat(observer.requests()).isEqualTo(3);
        assertThat(observer.requests(ReadSource.RAM_HIT)).isEqualTo(2);
        assertThat(observer.totalBytes()).isEqualTo(38);
        assertThat(observer.waitNanos()).isEqualTo(150);
        assertThat(observer.waitNanos(ReadSource.REMOTE_READ)).isEqualTo(100);
        assertThat(observer.waitNanos(ReadSource.BYPASS)).isEqualTo(50);
        assertThat(observer.waitNanos(ReadSource.RAM_HIT)).isZero();
    }

    @Test
    void testEveryNoHasItsCause()
    {
        Set<BypassCause> causes = new HashSet<>();
        for (NoCause cause : NoCause.values()) {
            assertThat(BypassCause.of(cause).name()).isEqualTo(cause.name());
            causes.add(BypassCause.of(cause));
        }
        assertThat(causes).hasSize(NoCause.values().length);
    }
}
