package io.cachedhive.testing;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestAwait
{
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final Duration PAUSE = Duration.ofMillis(1);

    @Test
    void testConditionHoldsAfterSomePolls()
    {
        AtomicInteger polls = new AtomicInteger();
        Await.until("the third poll", () -> polls.incrementAndGet() == 3);
        assertThat(polls).hasValue(3);
    }

    @Test
    void testConditionIsAskedForOnceWithoutTime()
    {
        Await.until("at once", Duration.ZERO, () -> true);
        assertThatThrownBy(() -> Await.until("at once", Duration.ZERO, () -> false))
                .isInstanceOf(AssertionError.class)
                .hasMessage("not within PT0S: at once");
    }

    @Test
    void testConditionDoesNotHoldInTime()
    {
        AtomicInteger polls = new AtomicInteger();
        assertThatThrownBy(() -> Await.until("the sky falls", SHORT, () -> polls.incrementAndGet() == 0))
                .isInstanceOf(AssertionError.class)
                .hasMessage("not within PT0.02S: the sky falls")
                .hasNoCause();
        assertThat(polls).hasPositiveValue();
    }

    @Test
    void testExceptionIsTheCause()
    {
        AtomicInteger polls = new AtomicInteger();
        IOException failure = new IOException("no answer");
        assertThatThrownBy(() -> Await.until("an answer", () -> {
            polls.incrementAndGet();
            throw failure;
        }))
                .isInstanceOf(AssertionError.class)
                .hasMessage("not within PT2M: an answer, last: no answer")
                .hasCause(failure);
        assertThat(polls).hasValue(1);
    }

    @Test
    void testFailedAssertionOfAConditionIsThrownAsItIs()
    {
        AssertionError failure = new AssertionError("it has ended");
        assertThatThrownBy(() -> Await.until("an answer", () -> {
            throw failure;
        })).isSameAs(failure);
    }

    @Test
    void testInterruption()
    {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> Await.until("an answer", () -> false))
                .isInstanceOf(AssertionError.class)
                .hasMessage("not within PT2M: an answer")
                .hasCauseInstanceOf(InterruptedException.class);
        // and the thread is not interrupted for the next test
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void testAssertions()
    {
        AtomicInteger polls = new AtomicInteger();
        Await.untilAsserted("the third poll", () -> assertThat(polls.incrementAndGet()).isGreaterThanOrEqualTo(3));
        assertThat(polls).hasValue(3);
        assertThatThrownBy(() -> Await.untilAsserted("none", SHORT, PAUSE, () -> assertThat(polls.incrementAndGet()).as("polls").isZero()))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("not within PT0.02S: none, last: [polls]")
                .cause().hasMessageContaining("[polls]");
    }

    @Test
    void testValue()
    {
        AtomicInteger polls = new AtomicInteger();
        int third = Await.untilPresent("the third poll", Await.DEADLINE, PAUSE, () -> Optional.of(polls.incrementAndGet()).filter(poll -> poll == 3));
        assertThat(third).isEqualTo(3);
        assertThatThrownBy(() -> Await.untilPresent("nothing", SHORT, PAUSE, Optional::empty))
                .isInstanceOf(AssertionError.class)
                .hasMessage("not within PT0.02S: nothing");
    }
}
