package io.cachedhive.worker.server;

import io.cachedhive.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class TestBodyBudget
{
    private final BodyBudget budget = new BodyBudget(100, 25);

    private static Thread waiting(Thread thread)
    {
        Await.until("the thread waits", () -> thread.getState() == Thread.State.WAITING);
        return thread;
    }

    private Thread acquire(String peer, int bytes, AtomicBoolean acquired)
    {
        return Thread.ofPlatform().daemon().start(() -> {
            try {
                budget.acquire(peer, bytes);
                acquired.set(true);
            }
            catch (InterruptedException _) {
                // not acquired
            }
        });
    }

    @Test
    void testOnePeerCannotHoldAll()
            throws InterruptedException
    {
        budget.acquire("slow", 20);
        AtomicBoolean second = new AtomicBoolean();
        Thread waiting = waiting(acquire("slow", 10, second));
        // others are not held up by it
        budget.acquire("a", 25);
        budget.acquire("b", 25);
        assertThat(second).isFalse();
        assertThat(budget.usedBytes()).isEqualTo(70);
        budget.release("slow", 20);
        waiting.join();
        assertThat(second).isTrue();
        budget.release("slow", 10);
        budget.release("a", 25);
        budget.release("b", 25);
        assertThat(budget.usedBytes()).isZero();
    }

    @Test
    void testAllPeersTogether()
            throws InterruptedException
    {
        for (int peer = 0; peer < 4; peer++) {
            budget.acquire("peer-" + peer, 25);
        }
        AtomicBoolean fifth = new AtomicBoolean();
        Thread waiting = waiting(acquire("another", 1, fifth));
        budget.release("peer-2", 25);
        waiting.join();
        assertThat(fifth).isTrue();
    }

    /**
     * A block may be larger than the part of a peer.
     */
    @Test
    void testBodyThatExceedsTheLimitIsAdmittedAlone()
            throws InterruptedException
    {
        budget.acquire("a", 120);
        budget.release("a", 120);
        budget.acquire("a", 30);
        AtomicBoolean second = new AtomicBoolean();
        Thread waiting = waiting(acquire("a", 1, second));
        waiting.interrupt();
        waiting.join();
        assertThat(second).isFalse();
        assertThat(budget.usedBytes()).isEqualTo(30);
    }
}
