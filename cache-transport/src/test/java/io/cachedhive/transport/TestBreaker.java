package io.cachedhive.transport;

import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

class TestBreaker
{
    private final AtomicLong clock = new AtomicLong(-50);
    private final Breaker breaker = new Breaker(clock::get, 100);

    @Test
    void testOpensAfterSilencesInARow()
    {
        breaker.silent();
        breaker.silent();
        breaker.answered();
        breaker.silent();
        breaker.silent();
        assertThat(breaker.isOpen()).isFalse();
        breaker.silent();
        assertThat(breaker.isOpen()).isTrue();
        // more of them change nothing
        breaker.silent();
        assertThat(breaker.isOpen()).isTrue();
    }

    @Test
    void testLateAnswersDoNotCloseIt()
    {
        open();
        breaker.answered();
        assertThat(breaker.isOpen()).isTrue();
    }

    @Test
    void testProbesOnceInAPeriod()
    {
        assertThat(breaker.claimProbe()).isFalse();
        open();
        assertThat(breaker.claimProbe()).isFalse();
        clock.addAndGet(99);
        assertThat(breaker.claimProbe()).isFalse();
        clock.addAndGet(1);
        assertThat(breaker.claimProbe()).isTrue();
        assertThat(breaker.claimProbe()).isFalse();
        clock.addAndGet(100);
        assertThat(breaker.claimProbe()).isTrue();
    }

    @Test
    void testWorkerThatAnswersProbesOnly()
    {
        open();
        breaker.probeAnswered();
        assertThat(breaker.isOpen()).isFalse();
        // one time-out a period, not three
        breaker.silent();
        assertThat(breaker.isOpen()).isTrue();

        // until it answers a read
        breaker.probeAnswered();
        breaker.answered();
        breaker.silent();
        breaker.silent();
        assertThat(breaker.isOpen()).isFalse();
        breaker.silent();
        assertThat(breaker.isOpen()).isTrue();
    }

    @Test
    void testProbeOfAWorkerThatIsWell()
    {
        breaker.silent();
        breaker.probeAnswered();
        breaker.silent();
        assertThat(breaker.isOpen()).isFalse();
    }

    @Test
    void testNewConnection()
    {
        open();
        breaker.reset();
        breaker.silent();
        breaker.silent();
        assertThat(breaker.isOpen()).isFalse();
    }

    private void open()
    {
        for (int i = 0; i < Breaker.SILENCES; i++) {
            breaker.silent();
        }
        assertThat(breaker.isOpen()).isTrue();
    }
}
