package io.cachedhive.transport;

import io.airlift.log.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;

import static org.assertj.core.api.Assertions.assertThat;

class TestStateLog
{
    private final java.util.logging.Logger jul = java.util.logging.Logger.getLogger("test-state-log");
    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
    private final List<String> lines = new ArrayList<>();
    private final Handler handler = new Handler()
    {
        @Override
        public void publish(LogRecord line)
        {
            lines.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private final StateLog log = new StateLog(Logger.get("test-state-log"), clock::get);

    @BeforeEach
    void setUp()
    {
        jul.addHandler(handler);
        jul.setUseParentHandlers(false);
    }

    @AfterEach
    void tearDown()
    {
        jul.removeHandler(handler);
    }

    @Test
    void testSaysItOnce()
    {
        for (int i = 0; i < 100; i++) {
            log.update("worker a", Optional.of("is away"));
            clock.addAndGet(Duration.ofSeconds(10).toNanos());
        }
        assertThat(lines).containsExactly("worker a: is away");
        log.update("worker a", Optional.empty());
        log.update("worker a", Optional.empty());
        assertThat(lines).containsExactly("worker a: is away", "worker a is used again");
        // what was never wrong is nothing to speak of
        log.update("worker b", Optional.empty());
        assertThat(lines).hasSize(2);
    }

    @Test
    void testTenMinutesOfTrouble()
    {
        // many workers that come and go all the time
        for (int second = 0; second < 600; second++) {
            for (int worker = 0; worker < 50; worker++) {
                log.update("worker " + worker, (second + worker) % 3 == 0 ? Optional.of("is away") : Optional.empty());
            }
            clock.addAndGet(Duration.ofSeconds(1).toNanos());
        }
        assertThat(lines).hasSizeBetween(StateLog.BURST, 20);
    }

    @Test
    void testWhatStaysIsSaidLater()
    {
        for (int worker = 0; worker < StateLog.BURST + 1; worker++) {
            log.update("worker " + worker, Optional.of("is away"));
        }
        assertThat(lines).hasSize(StateLog.BURST);
        log.logChanges();
        assertThat(lines).hasSize(StateLog.BURST);
        clock.addAndGet(Duration.ofMinutes(1).toNanos());
        log.logChanges();
        assertThat(lines).hasSize(StateLog.BURST + 1);
    }

    @Test
    void testForgotten()
    {
        log.update("worker a", Optional.of("is away"));
        log.retain(Set.of("worker b"));
        log.update("worker a", Optional.empty());
        assertThat(lines).hasSize(1);
    }
}
