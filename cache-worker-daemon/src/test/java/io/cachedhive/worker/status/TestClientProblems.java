package io.cachedhive.worker.status;

import io.cachedhive.worker.usage.UsageCounters.Account;
import org.junit.jupiter.api.Test;

import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

class TestClientProblems
{
    private static final Account LAKE = new Account("cluster", "lake");
    private static final Account OTHER = new Account("cluster", "other");

    private long nanos;
    private final ClientProblems problems = new ClientProblems(() -> nanos);

    @Test
    void belongToOneCatalog()
    {
        problems.report(LAKE, "trino-1", "no permission: change it");
        assertThat(problems.problem(LAKE)).contains("Trino node trino-1 cannot use the cache worker of its host: no permission: change it");
        assertThat(problems.problem(OTHER)).isEmpty();
    }

    @Test
    void endWhenTheNodeConnects()
    {
        problems.report(LAKE, "trino-1", "first");
        problems.report(LAKE, "trino-2", "second");
        problems.connected(OTHER, "trino-1");
        assertThat(problems.problem(LAKE)).hasValueSatisfying(problem -> assertThat(problem).endsWith(": first"));
        problems.connected(LAKE, "trino-1");
        assertThat(problems.problem(LAKE)).hasValueSatisfying(problem -> assertThat(problem).endsWith(": second"));
        problems.connected(LAKE, "trino-2");
        assertThat(problems.problem(LAKE)).isEmpty();
    }

    @Test
    void endWhenTheyAreNotRepeated()
    {
        problems.report(LAKE, "trino-1", "first");
        nanos += TimeUnit.SECONDS.toNanos(10);
        problems.report(LAKE, "trino-1", "repeated");
        nanos += TimeUnit.SECONDS.toNanos(14);
        assertThat(problems.problem(LAKE)).isPresent();
        nanos += TimeUnit.SECONDS.toNanos(1);
        assertThat(problems.problem(LAKE)).isEmpty();
    }

    @Test
    void areBounded()
    {
        for (int node = 0; node < 5000; node++) {
            problems.report(LAKE, "trino-" + node, "x".repeat(5000));
        }
        assertThat(problems.problem(LAKE).orElseThrow()).startsWith("Trino node trino-0 ").hasSizeLessThan(1100);
        for (int node = 0; node < 1024; node++) {
            problems.connected(LAKE, "trino-" + node);
        }
        assertThat(problems.problem(LAKE)).isEmpty();
    }
}
