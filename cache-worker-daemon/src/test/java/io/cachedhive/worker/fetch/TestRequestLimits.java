package io.cachedhive.worker.fetch;

import io.cachedhive.worker.fetch.RequestLimits.Bucket;
import io.cachedhive.worker.origin.OriginObserver;
import org.junit.jupiter.api.Test;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

class TestRequestLimits
{
    private static final Bucket BUCKET = new Bucket("default", "lake");

    private final AtomicLong nanos = new AtomicLong();
    private final WorkerCounters counters = new WorkerCounters();
    private final RequestLimits limits = new RequestLimits(32, nanos::get, counters);
    private final OriginObserver observer = limits.observer("default");

    @Test
    void testHalvedOnceForAllRequestsUnderWay()
    {
        for (int i = 0; i < 32; i++) {
            observer.answered("lake", 503);
        }
        assertThat(limits.limit(BUCKET)).isEqualTo(16);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        observer.answered("lake", 429);
        assertThat(limits.limit(BUCKET)).isEqualTo(8);
        for (int i = 0; i < 20; i++) {
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
            observer.answered("lake", 503);
        }
        assertThat(limits.limit(BUCKET)).isEqualTo(1);
        assertThat(limits.limit(new Bucket("default", "other"))).as("another bucket").isEqualTo(32);
        assertThat(limits.limit(new Bucket("other", "lake"))).as("another origin").isEqualTo(32);
    }

    @Test
    void testRaisedByOneForAsManyGoodAnswersAsTheLimitIs()
    {
        observer.answered("lake", 503);
        for (int i = 0; i < 17; i++) {
            limits.succeeded(BUCKET);
        }
        assertThat(limits.limit(BUCKET)).isEqualTo(17);
        for (int i = 0; i < 10_000; i++) {
            limits.succeeded(BUCKET);
        }
        assertThat(limits.limit(BUCKET)).isEqualTo(32);
    }

    @Test
    void testRefusalsInARow()
    {
        for (int i = 0; i < RequestLimits.REFUSES_ALL - 1; i++) {
            observer.answered("lake", 503);
        }
        assertThat(limits.refusesAll(BUCKET)).isFalse();
        observer.answered("lake", 206);
        for (int i = 0; i < RequestLimits.REFUSES_ALL; i++) {
            observer.answered("other", 503);
            observer.answered("lake", 503);
        }
        assertThat(limits.refusesAll(BUCKET)).isTrue();
        // it answers, whatever it says
        observer.answered("lake", 404);
        assertThat(limits.refusesAll(BUCKET)).isFalse();
        assertThat(limits.refusesAll(new Bucket("default", "other"))).isTrue();
        assertThat(counters.originThrottled()).isEqualTo(2 * 6 + 5);
    }

    @Test
    void testOtherErrorsAreOnlyCounted()
    {
        observer.requestSent(OriginObserver.Operation.GET);
        observer.requestSent(OriginObserver.Operation.HEAD);
        observer.answered("lake", 404);
        observer.answered("lake", 206);
        observer.received(5);
        assertThat(limits.limit(BUCKET)).isEqualTo(32);
        assertThat(counters.originErrors()).isEqualTo(1);
        assertThat(counters.originGets()).isEqualTo(1);
        assertThat(counters.originHeads()).isEqualTo(1);
        assertThat(counters.originBytes()).isEqualTo(5);
    }
}
