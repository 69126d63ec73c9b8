package io.cachedhive.plugin.split;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.placement.NodePreference;
import io.cachedhive.plugin.placement.ScanPlacement;
import io.cachedhive.plugin.rules.RuleSplit;
import io.cachedhive.plugin.rules.ScanRules;
import io.trino.plugin.base.metrics.LongCount;
import io.trino.plugin.hive.HiveSplit;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorSplitSource;
import io.trino.spi.metrics.Metric;
import io.trino.spi.metrics.Metrics;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.util.Comparator.comparingInt;
import static java.util.Objects.requireNonNull;

/**
 * Turns Hive's splits into cached ones. Never cuts them anew: a split does not say whether its file can be cut.
 */
public final class CachedHiveSplitSource
        extends PassedSplitSource
{
    static final String SPLITS_BY_RULE_PREFIX = "splits_by_rule_";
    // a younger file may be overwritten in the second of its modification time: owners do not show it to others before they looked again, and no other host may
    // keep it either; with room for clocks that differ
    private static final long MIN_AGE_MILLIS = Duration.ofMinutes(1).toMillis();

    private final ScanPlacement placement;
    private final CacheDecision decision;
    private final Optional<ScanRules> rules;
    private final SplitMaker toCached;

    public interface SplitMaker
    {
        CachedHiveSplit make(HiveSplit split, NodePreference nodes, CacheDecision decision);
    }

    /**
     * @param decision for the scan as a whole
     * @param rules that decide for each split; empty if there are none
     */
    public CachedHiveSplitSource(ConnectorSplitSource delegate, ScanPlacement placement, CacheDecision decision, Optional<ScanRules> rules, SplitMaker toCached)
    {
        super(delegate);
        this.placement = requireNonNull(placement, "placement is null");
        this.decision = requireNonNull(decision, "decision is null");
        this.rules = requireNonNull(rules, "rules is null");
        this.toCached = requireNonNull(toCached, "toCached is null");
    }

    /**
     * @param decision null for a split that is not Hive's
     */
    private record Decided(ConnectorSplit split, CacheDecision decision)
    {
        /**
         * The others are read where their files are, or without the cache.
         */
        boolean isPlaced()
        {
            return decision != null && !decision.bypass() && split.isRemotelyAccessible();
        }
    }

    @Override
    protected List<ConnectorSplit> pass(List<ConnectorSplit> splits)
    {
        List<Decided> decided = new ArrayList<>(splits.size());
        for (ConnectorSplit split : splits) {
            decided.add(new Decided(split, split instanceof HiveSplit hiveSplit ? decide(hiveSplit) : null));
        }
        placement.list(decided.stream()
                .filter(Decided::isPlaced)
                .map(Decided::split)
                .map(HiveSplit.class::cast)
                .toList());
        return decided.stream()
                .map(this::place)
                // else those that wait for one node might take the space of others that its own splits wait for
                .sorted(comparingInt(CachedHiveSplitSource::turn))
                .collect(toImmutableList());
    }

    private static int turn(ConnectorSplit split)
    {
        return split instanceof CachedHiveSplit cached ? cached.turn() : 0;
    }

    private CacheDecision decide(HiveSplit split)
    {
        if (rules.isEmpty()) {
            return decision;
        }
        return rules.get().decide(RuleSplit.of(split)).within(decision);
    }

    private ConnectorSplit place(Decided decided)
    {
        if (!(decided.split() instanceof HiveSplit split)) {
            return decided.split();
        }
        NodePreference nodes = NodePreference.ANY;
        if (decided.isPlaced()) {
            nodes = placement.place(split);
        }
        else if (split.isRemotelyAccessible()) {
            placement.addBypassed();
        }
        return toCached.make(split, nodes, keepsFills(split, nodes, System.currentTimeMillis()) ? decided.decision().withFillsAsGuests() : decided.decision());
    }

    /**
     * Who is passed the split on reads it again in the next scan.
     */
    public static boolean keepsFills(HiveSplit split, NodePreference nodes, long nowMillis)
    {
        return nodes.isPassedOn() && split.getFileModifiedTime() <= nowMillis - MIN_AGE_MILLIS;
    }

    @Override
    public Metrics getMetrics()
    {
        Metrics metrics = placement.counts().toMetrics(super.getMetrics());
        if (rules.isEmpty()) {
            return metrics;
        }
        ImmutableMap.Builder<String, Metric<?>> splitsByRule = ImmutableMap.builder();
        rules.get().splitsByRule().forEach((rule, splits) -> splitsByRule.put(SPLITS_BY_RULE_PREFIX + rule, new LongCount(splits)));
        return metrics.mergeWith(new Metrics(splitsByRule.buildOrThrow()));
    }
}
