package io.cachedhive.trino.split;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.placement.NodePreference;
import io.cachedhive.plugin.placement.PlacementCounts;
import io.cachedhive.plugin.placement.ScanPlacement;
import io.cachedhive.plugin.rules.ScanRules;
import io.cachedhive.plugin.table.ScanFile;
import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.trino.plugin.base.metrics.LongCount;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorSplitSource;
import io.trino.spi.metrics.Metric;
import io.trino.spi.metrics.Metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.util.Comparator.comparingInt;
import static java.util.Objects.requireNonNull;

/**
 * Turns the connector's splits into cached ones. Never cuts them anew: a split does not say whether its file can be cut.
 */
public final class CachedSplitSource
        extends PassedSplitSource
{
    static final String SPLITS_BY_RULE_PREFIX = "splits_by_rule_";

    private final ConnectorAdapter adapter;
    private final ScanPlacement placement;
    private final CacheDecision decision;
    private final Optional<ScanRules> rules;
    private final Function<ConnectorSplit, Map<String, String>> partitionValues;
    private final SplitMaker toCached;

    public interface SplitMaker
    {
        CachedSplit make(ConnectorSplit split, NodePreference nodes, CacheDecision decision);
    }

    /**
     * @param decision for the scan as a whole
     * @param rules that decide for each split; empty if there are none
     * @param partitionValues of a split, for the rules
     */
    public CachedSplitSource(
            ConnectorSplitSource delegate,
            ConnectorAdapter adapter,
            ScanPlacement placement,
            CacheDecision decision,
            Optional<ScanRules> rules,
            Function<ConnectorSplit, Map<String, String>> partitionValues,
            SplitMaker toCached)
    {
        super(delegate);
        this.adapter = requireNonNull(adapter, "adapter is null");
        this.placement = requireNonNull(placement, "placement is null");
        this.decision = requireNonNull(decision, "decision is null");
        this.rules = requireNonNull(rules, "rules is null");
        this.partitionValues = requireNonNull(partitionValues, "partitionValues is null");
        this.toCached = requireNonNull(toCached, "toCached is null");
    }

    /**
     * @param file empty for a split that is none of the cache's business; then there is no decision
     */
    private record Decided(ConnectorSplit split, Optional<ScanFile> file, Optional<CacheDecision> decision)
    {
        /**
         * The others are read where their files are, or without the cache.
         */
        boolean isPlaced()
        {
            return decision.isPresent() && !decision.get().bypass() && split.isRemotelyAccessible();
        }
    }

    @Override
    protected List<ConnectorSplit> pass(List<ConnectorSplit> splits)
    {
        List<Decided> decided = new ArrayList<>(splits.size());
        for (ConnectorSplit split : splits) {
            Optional<ScanFile> file = adapter.findFile(split);
            decided.add(new Decided(split, file, file.map(read -> decide(split, read))));
        }
        placement.list(decided.stream()
                .filter(Decided::isPlaced)
                .flatMap(split -> split.file().stream())
                .toList());
        return decided.stream()
                .map(this::place)
                // else those that wait for one node might take the space of others that its own splits wait for
                .sorted(comparingInt(CachedSplitSource::turn))
                .collect(toImmutableList());
    }

    private static int turn(ConnectorSplit split)
    {
        return split instanceof CachedSplit cached ? cached.turn() : 0;
    }

    private CacheDecision decide(ConnectorSplit split, ScanFile file)
    {
        if (rules.isEmpty()) {
            return decision;
        }
        return rules.get().decide(file.withPartitionValues(partitionValues.apply(split))).within(decision);
    }

    private ConnectorSplit place(Decided decided)
    {
        if (decided.file().isEmpty()) {
            return decided.split();
        }
        ScanFile file = decided.file().get();
        CacheDecision decision = decided.decision().orElseThrow();
        NodePreference nodes = NodePreference.ANY;
        if (decided.isPlaced()) {
            nodes = placement.place(file);
        }
        else if (decided.split().isRemotelyAccessible()) {
            placement.addBypassed();
        }
        return toCached.make(decided.split(), nodes, ScanPlacement.keepsFills(file, nodes, System.currentTimeMillis()) ? decision.withFillsAsGuests() : decision);
    }

    @Override
    public Metrics getMetrics()
    {
        Metrics metrics = withCounts(super.getMetrics(), placement.counts());
        if (rules.isEmpty()) {
            return metrics;
        }
        ImmutableMap.Builder<String, Metric<?>> splitsByRule = ImmutableMap.builder();
        rules.get().splitsByRule().forEach((rule, splits) -> splitsByRule.put(SPLITS_BY_RULE_PREFIX + rule, new LongCount(splits)));
        return metrics.mergeWith(new Metrics(splitsByRule.buildOrThrow()));
    }

    private static Metrics withCounts(Metrics others, PlacementCounts counts)
    {
        return new Metrics(ImmutableMap.<String, Metric<?>>builder()
                .putAll(others.getMetrics())
                .put("splits_at_owner", new LongCount(counts.atOwner()))
                .put("splits_overflowed", new LongCount(counts.overflowed()))
                .put("splits_overflowed_to_any", new LongCount(counts.overflowedToAny()))
                .put("splits_without_owner", new LongCount(counts.withoutOwner()))
                .buildOrThrow());
    }
}
