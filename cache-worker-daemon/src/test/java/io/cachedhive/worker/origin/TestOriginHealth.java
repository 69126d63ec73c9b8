package io.cachedhive.worker.origin;

import io.cachedhive.worker.origin.ObjectSourceException.Reason;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import static org.assertj.core.api.Assertions.assertThat;

class TestOriginHealth
{
    private final AtomicLong nanos = new AtomicLong(-7);
    private final OriginHealth health = new OriginHealth("default", Path.of("etc/origins/default.properties"), nanos::get);

    private void fail(Reason reason)
    {
        health.failed("lake", "GET s3://lake/file", new ObjectSourceException(reason, "403 AccessDenied", null));
    }

    private void advance(long millis)
    {
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    @Test
    void testDeniedBucketIsLeftToClientsForAMinute()
    {
        fail(Reason.DENIED);
        assertThat(health.problem()).contains(
                "origin default answers 403 AccessDenied to GET s3://lake/file: check the credentials in etc/origins/default.properties and the rights that they have");
        assertThat(health.isDenied("lake")).isTrue();
        assertThat(health.isDenied("other")).isFalse();
        assertThat(health.isPaused("lake")).isFalse();
        advance(60_000);
        assertThat(health.isDenied("lake")).isFalse();
    }

    @Test
    void testRefusedLocationIsReportedForFiveMinutes()
    {
        health.refused("s3://lake/hr/a");
        assertThat(health.problem()).contains("origin default does not allow s3://lake/hr/a, so that Trino reads it: "
                + "add its bucket or prefix to allowed-locations in etc/origins/default.properties, or use another origin in the catalog");
        health.succeeded("lake");
        advance(200_000);
        health.refused("s3://lake/hr/b");
        fail(Reason.DENIED);
        assertThat(health.problem().orElseThrow()).as("a failure comes first").contains("answers 403");
        health.succeeded("lake");
        advance(299_999);
        assertThat(health.problem().orElseThrow()).contains("s3://lake/hr/b");
        advance(1);
        assertThat(health.problem()).isEmpty();
    }

    @Test
    void testUnreachableOriginIsAskedNowAndThen()
    {
        fail(Reason.UNREACHABLE);
        assertThat(health.isPaused("lake")).isTrue();
        advance(1000);
        assertThat(health.isPaused("lake")).as("one may try").isFalse();
        assertThat(health.isPaused("lake")).as("the others wait for how it went").isTrue();
        fail(Reason.UNREACHABLE);
        advance(1999);
        assertThat(health.isPaused("lake")).isTrue();
        advance(1);
        assertThat(health.isPaused("lake")).isFalse();
        health.succeeded("lake");
        assertThat(health.isPaused("lake")).isFalse();
        assertThat(health.isPaused("lake")).isFalse();
        assertThat(health.problem()).isEmpty();
    }

    @Test
    void testOverloadedBucketIsLeftAlone()
    {
        health.succeeded("lake");
        advance(4999);
        fail(Reason.THROTTLED);
        assertThat(health.isPaused("lake")).as("others came through: bad luck").isFalse();
        advance(1);
        fail(Reason.THROTTLED);
        assertThat(health.isPaused("lake")).isTrue();
        assertThat(health.isPaused("other")).isFalse();
        advance(1000);
        assertThat(health.isPaused("lake")).as("one may try").isFalse();
        assertThat(health.isPaused("lake")).isTrue();
        fail(Reason.THROTTLED);
        advance(1999);
        assertThat(health.isPaused("lake")).isTrue();
        health.succeeded("lake");
        assertThat(health.isPaused("lake")).isFalse();
    }

    @Test
    void testPausedBucketDoesNotUseUpTheProbeOfItsOrigin()
    {
        advance(10_000);
        fail(Reason.UNREACHABLE);
        fail(Reason.THROTTLED);
        fail(Reason.THROTTLED);
        advance(1000);
        assertThat(health.isPaused("lake")).as("its own pause of two seconds").isTrue();
        assertThat(health.isPaused("other")).as("the request that probes the origin").isFalse();
        assertThat(health.isPaused("other")).isTrue();
    }

    /// Ten minutes without S3, also when it comes and goes.
    @Test
    void testFewLogLines()
    {
        AtomicInteger lines = new AtomicInteger();
        Handler handler = new Handler()
        {
            @Override
            public void publish(LogRecord record)
            {
                lines.incrementAndGet();
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger(OriginHealth.class.getName());
        logger.addHandler(handler);
        try {
            for (int second = 0; second < 600; second++) {
                fail(Reason.UNREACHABLE);
                fail(Reason.THROTTLED);
                if (second % 7 == 0) {
                    health.succeeded("lake");
                }
                advance(1000);
            }
        }
        finally {
            logger.removeHandler(handler);
        }
        assertThat(lines.get()).isBetween(2, 4);
    }
}
