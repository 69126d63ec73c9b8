package io.cachedhive.worker.server;

import org.junit.jupiter.api.Test;

import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestHandshakeBudget
{
    private static final String ATTACKER = "10.0.0.66";
    private static final String HOST = "10.0.0.11";

    private long now = 7;
    private final HandshakeBudget budget = new HandshakeBudget(5, 2, () -> now);

    @Test
    void testFailedHandshakesUseItUp()
    {
        for (int i = 0; i < 5; i++) {
            assertThat(budget.take(ATTACKER)).isZero();
        }
        assertThat(budget.take(ATTACKER)).as("half a second, at two in a second").isEqualTo(TimeUnit.MILLISECONDS.toNanos(500));
        assertThat(budget.take(HOST)).as("of another host").isZero();

        now += TimeUnit.MILLISECONDS.toNanos(500);
        assertThat(budget.take(ATTACKER)).isZero();
        assertThat(budget.take(ATTACKER)).isPositive();

        now += TimeUnit.HOURS.toNanos(1);
        for (int i = 0; i < 5; i++) {
            assertThat(budget.take(ATTACKER)).as("no more than at first").isZero();
        }
        assertThat(budget.take(ATTACKER)).isPositive();
    }

    @Test
    void testProvenHandshakesDoNot()
    {
        for (int i = 0; i < 1000; i++) {
            assertThat(budget.take(HOST)).isZero();
            budget.proven(HOST);
        }
        assertThat(budget.size()).as("nothing is kept of hosts that prove the secret").isZero();
        // of a connection that began before
        budget.proven(HOST);
        assertThat(budget.size()).isZero();
    }

    @Test
    void testFewAddressesAreKept()
    {
        for (int i = 0; i < 10_000; i++) {
            assertThat(budget.take("10.0.%s.%s".formatted(i / 256, i % 256))).isZero();
        }
        assertThat(budget.size()).isLessThan(5000);
    }

    @Test
    void testWaitingEndsWithTheConnection()
            throws Exception
    {
        HandshakeBudget small = new HandshakeBudget(1, 1000, System::nanoTime);
        AtomicBoolean closed = new AtomicBoolean();
        // waits for a thousandth of a second each
        for (int i = 0; i < 5; i++) {
            small.await(ATTACKER, closed::get);
        }
        closed.set(true);
        assertThatThrownBy(() -> small.await(ATTACKER, closed::get)).isInstanceOf(ClosedChannelException.class);
    }
}
