package io.cachedhive.benchmark.queries;

import io.cachedhive.benchmark.figure.Figure;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static java.util.function.Function.identity;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class TestQueryFigures
{
    private static final double EXACT = 1e-9;

    @Test
    void testRatios()
    {
        List<Pass> passes = new ArrayList<>();
        for (int run = 1; run <= 3; run++) {
            passes.add(pass("wide", run, Contender.HIVE, Phase.COLD, 100 * run, 1000 * run, 0, 200));
            passes.add(pass("wide", run, Contender.CACHEDHIVE, Phase.COLD, 110 * run, 600 * run, 300 * run, 50));
            passes.add(pass("wide", run, Contender.LOCAL, Phase.WARM, 40 * run, 100 * run, 0, 0));
            passes.add(pass("wide", run, Contender.BUILT_IN, Phase.WARM, 50 * run, 100 * run, 0, 40));
            passes.add(pass("wide", run, Contender.CACHEDHIVE, Phase.WARM, 50 * run, 100 * run, 0, 10));
        }
        passes.add(pass("wide", 3, Contender.HIVE, Phase.WARM, 100, 1, 0, 200));
        passes.add(pass("wide", 3, Contender.CACHEDHIVE, Phase.ANY_NODE, 20, 1, 0, 0));
        // servers are restarted once
        passes.add(pass("wide", 3, Contender.HIVE, Phase.TRINO_RESTARTED, 1, 1, 0, 200));
        passes.add(pass("wide", 3, Contender.CACHEDHIVE, Phase.TRINO_RESTARTED, 1, 1, 0, 20));

        Map<String, Figure> figures = byName(passes);

        Figure wall = figures.get("wide_near_cold_to_hive_wall");
        assertThat(wall.interval().mean()).isEqualTo(1.1, within(EXACT));
        assertThat(wall.holds()).isFalse();
        Figure cpu = figures.get("wide_near_cold_to_hive_cpu");
        assertThat(cpu.interval().mean()).as("Trino and cache workers together").isEqualTo(0.9, within(EXACT));
        assertThat(cpu.holds()).isTrue();
        assertThat(figures.get("wide_near_warm_to_local_wall").interval().mean()).isEqualTo(1.25, within(EXACT));
        assertThat(figures.get("wide_near_warm_to_built_in_wall").holds()).isTrue();
        assertThat(figures.get("wide_near_warm_to_built_in_gets").value()).isEqualTo(0.25, within(EXACT));
        Figure restarted = figures.get("wide_near_trino_restarted_to_hive_gets");
        assertThat(restarted.value()).isEqualTo(0.1, within(EXACT));
        assertThat(restarted.holds()).isFalse();
        Figure nonLocal = figures.get("wide_near_any_node_to_hive_read_time");
        assertThat(nonLocal.value()).isEqualTo(0.2, within(EXACT));
        assertThat(nonLocal.holds()).isFalse();
        assertThat(figures).as("a peer without a pass").doesNotContainKey("wide_near_all_restarted_to_hive_gets");
    }

    @Test
    void testGroupsAreApart()
    {
        List<Pass> passes = new ArrayList<>();
        for (int run = 1; run <= 2; run++) {
            for (String workload : List.of("dashboard-1", "dashboard-8")) {
                passes.add(pass(workload, run, Contender.BUILT_IN, Phase.WARM, 100, 1, 0, 0));
                passes.add(pass(workload, run, Contender.CACHEDHIVE, Phase.WARM, workload.equals("dashboard-8") ? 50 : 100, 1, 0, 0));
            }
        }
        Map<String, Figure> figures = byName(passes);
        assertThat(figures.get("dashboard_1_near_warm_to_built_in_wall").value()).isEqualTo(1, within(EXACT));
        assertThat(figures.get("dashboard_8_near_warm_to_built_in_wall").value()).isEqualTo(0.5, within(EXACT));
        assertThat(figures.get("dashboard_8_near_warm_to_built_in_wall").budget()).isLessThan(1);
    }

    @Test
    void testCacheThatMayBeTooSmall()
    {
        List<Pass> passes = new ArrayList<>();
        for (int run = 1; run <= 2; run++) {
            passes.add(pass("popular", run, Contender.HIVE, Phase.WARM, 100, 1, 0, 100));
            passes.add(pass("popular", run, Contender.BUILT_IN, Phase.WARM, 100, 1, 0, 50));
            passes.add(pass("popular", run, Contender.CACHEDHIVE, Phase.WARM, 106, 1, 0, 45));
        }
        Map<String, Figure> figures = byName(passes);
        assertThat(figures.get("popular_near_warm_to_hive_wall").holds()).as("slower than without a cache").isFalse();
        assertThat(figures.get("popular_near_warm_to_built_in_gets").value()).isEqualTo(0.9, within(EXACT));
        assertThat(figures.get("popular_near_warm_to_built_in_gets").holds()).as("hardly fewer requests than the built-in cache").isFalse();
    }

    private static Map<String, Figure> byName(List<Pass> passes)
    {
        return QueryFigures.of(passes).stream().collect(toMap(Figure::name, identity()));
    }

    private static Pass pass(String workload, int run, Contender contender, Phase phase, double wall, double trino, double worker, long gets)
    {
        return new Pass(workload, StoreProfile.NEAR, run, contender, false, phase, wall, trino, worker, gets, 0, 0, 0, wall / 10);
    }
}
