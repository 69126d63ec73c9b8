package io.cachedhive.plugin.preload;

import org.junit.jupiter.api.Test;

import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

class TestPace
{
    private static final long SECOND = 1_000_000_000;

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 100);

    @Test
    void testWithoutLimit()
    {
        Pace pace = new Pace(OptionalLong.empty(), now::get);
        pace.take(Long.MAX_VALUE);
        assertThat(pace.waitNanos()).isZero();
    }

    @Test
    void testAverage()
    {
        // clocks of this kind may turn over
        Pace pace = new Pace(OptionalLong.of(1000), now::get);
        assertThat(pace.waitNanos()).isZero();
        pace.take(500);
        assertThat(pace.waitNanos()).isEqualTo(SECOND / 2);
        now.addAndGet(SECOND / 4);
        assertThat(pace.waitNanos()).isEqualTo(SECOND / 4);
        pace.take(1000);
        assertThat(pace.waitNanos()).isEqualTo(SECOND / 4 + SECOND);
    }

    @Test
    void testGivesBack()
    {
        Pace pace = new Pace(OptionalLong.of(1000), now::get);
        pace.take(1000);
        pace.take(-1000);
        assertThat(pace.waitNanos()).isZero();
        pace.take(1000);
        pace.take(-400);
        assertThat(pace.waitNanos()).isEqualTo(600 * SECOND / 1000);
    }

    @Test
    void testIdleTimeIsNotSavedUp()
    {
        Pace pace = new Pace(OptionalLong.of(1000), now::get);
        now.addAndGet(60 * SECOND);
        pace.take(1000);
        assertThat(pace.waitNanos()).isEqualTo(SECOND);
    }
}
