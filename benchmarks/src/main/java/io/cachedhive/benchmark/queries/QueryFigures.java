package io.cachedhive.benchmark.queries;

import io.cachedhive.benchmark.figure.Figure;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.ToDoubleFunction;

import static io.cachedhive.benchmark.queries.Contender.BUILT_IN;
import static io.cachedhive.benchmark.queries.Contender.CACHEDHIVE;
import static io.cachedhive.benchmark.queries.Contender.HIVE;
import static io.cachedhive.benchmark.queries.Contender.LOCAL;
import static io.cachedhive.benchmark.queries.Phase.ANY_NODE;
import static io.cachedhive.benchmark.queries.Phase.COLD;
import static io.cachedhive.benchmark.queries.Phase.WARM;
import static java.util.Locale.ROOT;
import static java.util.Objects.requireNonNull;

/**
 * What the passes of all contenders say about cachedhive.
 */
public final class QueryFigures
{
    private static final double COLD_WALL_BUDGET = 1.05;
    private static final double COLD_CPU_BUDGET = 1.10;
    private static final double WARM_WALL_BUDGET = 1.05;
    private static final double WARM_CPU_BUDGET = 1.05;
    // of dashboards that several clients look at
    private static final double STREAMS_WALL_BUDGET = 1 / 1.05;
    // of a workload for which a cache may be too small
    private static final String POPULAR = "popular";
    private static final double POPULAR_WALL_BUDGET = 1.05;
    private static final double POPULAR_GETS_TO_BUILT_IN_BUDGET = 0.8;
    private static final double NON_LOCAL_READ_BUDGET = 0.15;
    private static final double CHANGED_GETS_BUDGET = 0.05;
    private static final double CHANGED_GETS_TO_BUILT_IN_BUDGET = 0.5;

    private final List<Pass> passes;
    private final List<Figure> figures = new ArrayList<>();

    private QueryFigures(List<Pass> passes)
    {
        this.passes = requireNonNull(passes, "passes is null");
    }

    private record Group(String workload, StoreProfile profile, boolean listed)
    {
        String name(Phase phase)
        {
            return "%s_%s%s_%s".formatted(workload.replace('-', '_'), profile, listed ? "_listed" : "", phase.name().toLowerCase(ROOT));
        }

        boolean has(Pass pass)
        {
            return pass.workload().equals(workload) && pass.profile() == profile && pass.listed() == listed;
        }
    }

    public static List<Figure> of(List<Pass> passes)
    {
        QueryFigures figures = new QueryFigures(passes);
        Set<Group> groups = new LinkedHashSet<>();
        passes.forEach(pass -> groups.add(new Group(pass.workload(), pass.profile(), pass.listed())));
        groups.forEach(figures::add);
        return List.copyOf(figures.figures);
    }

    private void add(Group group)
    {
        addRatio(group, COLD, HIVE, "wall", Pass::wallMillis, OptionalDouble.of(COLD_WALL_BUDGET));
        addRatio(group, COLD, HIVE, "cpu", Pass::cpuMillis, OptionalDouble.of(COLD_CPU_BUDGET));
        boolean popular = group.workload().equals(POPULAR);
        addRatio(group, WARM, HIVE, "wall", Pass::wallMillis, popular ? OptionalDouble.of(POPULAR_WALL_BUDGET) : OptionalDouble.empty());
        boolean many = group.workload().startsWith("dashboard-") && !group.workload().equals("dashboard-1");
        addRatio(group, WARM, BUILT_IN, "wall", Pass::wallMillis, OptionalDouble.of(many ? STREAMS_WALL_BUDGET : WARM_WALL_BUDGET));
        addRatio(group, WARM, BUILT_IN, "cpu", Pass::cpuMillis, OptionalDouble.empty());
        addRatio(group, WARM, LOCAL, "wall", Pass::wallMillis, OptionalDouble.empty());
        addRatio(group, WARM, LOCAL, "cpu", Pass::cpuMillis, OptionalDouble.of(WARM_CPU_BUDGET));
        for (Phase phase : Phase.values()) {
            // plain Hive has the same requests in each phase
            OptionalDouble hiveBudget = phase.isOnce() ? OptionalDouble.of(CHANGED_GETS_BUDGET) : OptionalDouble.empty();
            addQuotient(group, phase, HIVE, phase.concerns(HIVE) ? phase : WARM, "gets", Pass::gets, hiveBudget);
            addQuotient(group, phase, BUILT_IN, phase, "gets", Pass::gets, builtInBudget(phase, popular));
        }
        addQuotient(group, WARM, HIVE, WARM, "read_time", Pass::readMillis, OptionalDouble.empty());
        addQuotient(group, WARM, LOCAL, WARM, "read_time", Pass::readMillis, OptionalDouble.empty());
        addQuotient(group, ANY_NODE, HIVE, WARM, "read_time", Pass::readMillis, OptionalDouble.of(NON_LOCAL_READ_BUDGET));
        for (Contender contender : Contender.values()) {
            for (Phase phase : List.of(COLD, WARM)) {
                double[] wall = values(group, phase, contender, Pass::wallMillis);
                if (wall.length > 1) {
                    figures.add(Figure.of("%s_%s".formatted(group.name(phase), contender.name().toLowerCase(ROOT)), "ms", OptionalDouble.empty(), wall));
                }
            }
        }
    }

    private static OptionalDouble builtInBudget(Phase phase, boolean popular)
    {
        if (phase.isOnce()) {
            return OptionalDouble.of(CHANGED_GETS_TO_BUILT_IN_BUDGET);
        }
        return popular && phase == WARM ? OptionalDouble.of(POPULAR_GETS_TO_BUILT_IN_BUDGET) : OptionalDouble.empty();
    }

    private void addRatio(Group group, Phase phase, Contender peer, String what, ToDoubleFunction<Pass> value, OptionalDouble budget)
    {
        double[] measured = values(group, phase, CACHEDHIVE, value);
        double[] others = values(group, phase, peer, value);
        if (measured.length > 1 && measured.length == others.length) {
            figures.add(Figure.ofRatio("%s_to_%s_%s".formatted(group.name(phase), peer.name().toLowerCase(ROOT), what), budget, measured, others));
        }
    }

    /**
     * Adds the quotient of the means, without an interval: what hardly varies, or is measured once.
     */
    private void addQuotient(Group group, Phase phase, Contender peer, Phase peerPhase, String what, ToDoubleFunction<Pass> value, OptionalDouble budget)
    {
        double[] measured = values(group, phase, CACHEDHIVE, value);
        double[] others = values(group, peerPhase, peer, value);
        double sum = sum(others);
        if (measured.length > 0 && sum > 0) {
            double ratio = sum(measured) / measured.length / (sum / others.length);
            figures.add(Figure.ofCount("%s_to_%s_%s".formatted(group.name(phase), peer.name().toLowerCase(ROOT), what), "ratio", budget, ratio));
        }
    }

    private static double sum(double[] values)
    {
        double sum = 0;
        for (double value : values) {
            sum += value;
        }
        return sum;
    }

    private double[] values(Group group, Phase phase, Contender contender, ToDoubleFunction<Pass> value)
    {
        return passes.stream()
                .filter(pass -> group.has(pass) && pass.phase() == phase && pass.contender() == contender)
                .sorted(Comparator.comparingInt(Pass::run))
                .mapToDouble(value)
                .toArray();
    }
}
