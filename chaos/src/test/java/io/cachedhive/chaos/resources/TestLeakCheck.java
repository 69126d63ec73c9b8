package io.cachedhive.chaos.resources;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

class TestLeakCheck
{
    private static final Usage LEVEL = usage(500L << 20, 100, 200, 900);
    private static final int HALF_AN_HOUR = 180;

    @Test
    void testLevel()
    {
        assertThat(findings(HALF_AN_HOUR, _ -> LEVEL)).isEmpty();
        // a fault that needs more for a moment, also at the end
        assertThat(findings(HALF_AN_HOUR, index -> index > 170 || index % 20 == 0 ? usage(900L << 20, 400, 900, 3000) : LEVEL)).isEmpty();
    }

    @Test
    void testGrowthOfEachResource()
    {
        // per sample, that is ten seconds
        assertThat(findings(HALF_AN_HOUR, index -> usage((500L + 2 * index) << 20, 100, 200, 900))).singleElement().asString().startsWith("memory grew from ");
        assertThat(findings(HALF_AN_HOUR, index -> usage(500L << 20, 100 + index, 200, 900))).singleElement().asString()
                .startsWith("threads grew from ")
                .endsWith(": 83 more reader-#");
        assertThat(findings(HALF_AN_HOUR, index -> usage(500L << 20, 100, 200 + 2 * index, 900))).singleElement().asString().startsWith("descriptors grew from ");
        assertThat(findings(HALF_AN_HOUR, index -> usage(500L << 20, 100, 200, 900 + 5 * index))).singleElement().asString().startsWith("mappings grew from ");
    }

    @Test
    void testGrowthInTheFirstHalfIsNoLeak()
    {
        assertThat(findings(HALF_AN_HOUR, index -> usage(Math.min(500, 100L + 10 * index) << 20, Math.min(100, index), 200, 900))).isEmpty();
    }

    @Test
    void testTooShort()
    {
        IntFunction<Usage> growing = index -> usage((500L + 50 * index) << 20, 100, 200, 900);
        int warmUp = LeakCheck.WARM_UP_SECONDS / 10;
        assertThat(LeakCheck.isDecisive(samples(warmUp + LeakCheck.LEAST_SAMPLES - 1, growing))).isFalse();
        assertThat(findings(warmUp + LeakCheck.LEAST_SAMPLES - 1, growing)).isEmpty();
        assertThat(findings(warmUp + LeakCheck.LEAST_SAMPLES, growing)).hasSize(1);
    }

    @Test
    void testOwnProcess()
    {
        Usage usage = Usage.of(ProcessHandle.current().pid()).orElseThrow();
        assertThat(usage.memoryBytes()).isGreaterThan(10 << 20);
        assertThat(usage.threadCount()).isGreaterThan(5);
        assertThat(usage.descriptors()).isGreaterThan(3);
        assertThat(usage.mappings()).isGreaterThan(10);
        assertThat(Usage.of(Integer.MAX_VALUE)).isEmpty();
    }

    private static Usage usage(long memoryBytes, int threads, int descriptors, int mappings)
    {
        return new Usage(memoryBytes, Map.of("reader-#", threads, "writer-#", 20), descriptors, mappings);
    }

    private static List<String> findings(int count, IntFunction<Usage> usage)
    {
        return LeakCheck.findings(samples(count, usage));
    }

    private static List<Sample> samples(int count, IntFunction<Usage> usage)
    {
        return IntStream.range(0, count).mapToObj(index -> new Sample(10L * index, usage.apply(index))).toList();
    }
}
