package io.cachedhive.plugin.counters;

import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.PlaceState;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestHitRateHistory
{
    private static final Duration FIVE_MINUTES = Duration.ofMinutes(5);
    private static final Duration DAY = Duration.ofHours(24);

    private long nanos = 1000;
    private final HitRateHistory history = new HitRateHistory(() -> nanos);

    @Test
    void testWindows()
    {
        assertThat(history.hitRate(DAY)).isEmpty();
        // what was counted before the history is not part of it
        history.add(List.of(report("a", 1, 1000, 0)));
        assertThat(history.hitRate(DAY)).isEmpty();

        pass(Duration.ofMinutes(10));
        history.add(List.of(report("a", 1, 1000, 100)));
        assertThat(history.hitRate(DAY)).hasValue(0);

        pass(Duration.ofMinutes(10));
        history.add(List.of(report("a", 1, 1300, 100)));
        assertThat(history.hitRate(FIVE_MINUTES)).as("since the sample before").hasValue(1);
        assertThat(history.hitRate(DAY)).hasValue(0.75);

        pass(FIVE_MINUTES);
        history.add(List.of(report("a", 1, 1300, 100)));
        assertThat(history.hitRate(FIVE_MINUTES)).isEmpty();
        assertThat(history.hitRate(DAY)).hasValue(0.75);

        pass(DAY);
        history.add(List.of(report("a", 1, 1300, 100)));
        assertThat(history.hitRate(DAY)).as("all reads are older").isEmpty();
    }

    @Test
    void testCacheWorkersThatComeAndGo()
    {
        history.add(List.of(report("a", 1, 0, 0), report("b", 1, 0, 0)));
        pass(Duration.ofMinutes(1));
        history.add(List.of(report("a", 1, 100, 0), unreachable("b")));
        assertThat(history.hitRate(DAY)).hasValue(1);
        pass(Duration.ofMinutes(1));
        history.add(List.of(unreachable("a"), report("b", 1, 0, 100)));
        assertThat(history.hitRate(DAY)).hasValue(0.5);
        pass(Duration.ofMinutes(1));
        history.add(List.of(report("a", 2, 100, 100), report("b", 1, 0, 100)));
        assertThat(history.hitRate(DAY)).as("a started from zero").hasValue(0.5);
    }

    @Test
    void testReportsInTheOtherOrder()
    {
        history.add(List.of(report("a", 1, 0, 0)));
        history.add(List.of(report("a", 1, 100, 100)));
        history.add(List.of(report("a", 1, 90, 10)));
        history.add(List.of(report("a", 1, 200, 100)));
        assertThat(history.hitRate(DAY).orElseThrow()).isEqualTo(200.0 / 300);
    }

    private void pass(Duration time)
    {
        nanos += time.toNanos();
    }

    private static WorkerReport report(String worker, long sinceMillis, long hitBytes, long missBytes)
    {
        Pong pong = new Pong(new CacheWorkerId(worker), new Digest128(0, 1), "1", "RUNNING", 1, Optional.empty(), 0, 0, new RingEpoch(0), 0);
        Stats stats = new Stats(pong, sinceMillis, Optional.empty(), Map.of(CounterNames.SSD_HIT_BYTES, hitBytes, CounterNames.REMOTE_READ_BYTES, missBytes), Map.of());
        return new WorkerReport(place(worker), Optional.of(stats), Optional.empty());
    }

    private static WorkerReport unreachable(String worker)
    {
        return new WorkerReport(place(worker), Optional.empty(), Optional.of("no answer"));
    }

    private static Place place(String worker)
    {
        return new Place(new WorkerAddress(worker, 1), PlaceState.ANSWERING, Optional.empty(), Optional.empty(), Optional.empty(), 0, Optional.empty(), 0);
    }
}
