package io.cachedhive.worker.server;

import org.junit.jupiter.api.Test;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

class TestPeerRefusals
{
    @Test
    void testIsSaidOnceAMinute()
    {
        AtomicLong nanos = new AtomicLong(-5);
        PeerRefusals refusals = new PeerRefusals(nanos::get);
        int logged = 0;
        for (int second = 0; second < 600; second++) {
            for (int i = 0; i < 10; i++) {
                logged += refusals.refused("10.0.0.1", "garbage") ? 1 : 0;
            }
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        }

        assertThat(refusals.count()).isEqualTo(6000);
        assertThat(logged).isEqualTo(10);
    }

    @Test
    void testRequestsAndConnectionsAreLoggedSeparately()
    {
        PeerRefusals refusals = new PeerRefusals(() -> 0);
        assertThat(refusals.refused("10.0.0.1", "garbage")).isTrue();
        assertThat(refusals.requestRefused("10.0.0.1", "no role")).isTrue();
        assertThat(refusals.requestRefused("10.0.0.1", "no role")).isFalse();
        assertThat(refusals.count()).isEqualTo(1);
        assertThat(refusals.requestCount()).isEqualTo(2);
    }

    @Test
    void testReasonIsOneLineOfBoundedLength()
    {
        assertThat(LogLimit.line("quoted\nERROR\tforged line")).isEqualTo("quoted?ERROR?forged line");
        assertThat(LogLimit.line("x".repeat(10_000))).isEqualTo("x".repeat(500) + "...");
    }
}
