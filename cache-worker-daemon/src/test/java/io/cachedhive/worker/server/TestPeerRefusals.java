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
}
