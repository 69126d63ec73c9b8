package io.cachedhive.plugin.split;

import io.cachedhive.plugin.config.NodeSelectionStrategy;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.placement.ScanPlacement;
import io.cachedhive.plugin.rules.RuleRegistry;
import io.cachedhive.plugin.rules.RuleScan;
import io.cachedhive.plugin.rules.ScanRules;
import io.cachedhive.protocol.ring.RingEpoch;
import io.trino.plugin.hive.HiveTableHandle;
import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplitManager;
import io.trino.spi.connector.ConnectorSplitSource;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.Constraint;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.function.table.ConnectorTableFunctionHandle;

import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

import static java.util.Objects.requireNonNull;

/**
 * Decides for each scan whether it uses the cache, lets the rules decide for each of its splits, and sends them to where their bytes are.
 */
public final class CachedHiveSplitManager
        implements ConnectorSplitManager
{
    private final ConnectorSplitManager delegate;
    private final FileOrigins origins;
    private final long chunkSizeBytes;
    private final Supplier<RingView> ringView;
    private final Function<ConnectorSession, Optional<CacheDecision>> decisions;
    private final Function<ConnectorSession, NodeSelectionStrategy> strategies;
    private final ToDoubleFunction<ConnectorSession> maxSkews;
    private final RuleRegistry rules;

    /**
     * @param ringView the ring at the moment
     * @param decisions empty for a scan that shall be exactly plain Hive's
     * @param maxSkews by how much of its share a node may be preferred above it within a scan
     */
    public CachedHiveSplitManager(
            ConnectorSplitManager delegate,
            FileOrigins origins,
            long chunkSizeBytes,
            Supplier<RingView> ringView,
            Function<ConnectorSession, Optional<CacheDecision>> decisions,
            Function<ConnectorSession, NodeSelectionStrategy> strategies,
            ToDoubleFunction<ConnectorSession> maxSkews,
            RuleRegistry rules)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.origins = requireNonNull(origins, "origins is null");
        this.chunkSizeBytes = chunkSizeBytes;
        this.ringView = requireNonNull(ringView, "ringView is null");
        this.decisions = requireNonNull(decisions, "decisions is null");
        this.strategies = requireNonNull(strategies, "strategies is null");
        this.maxSkews = requireNonNull(maxSkews, "maxSkews is null");
        this.rules = requireNonNull(rules, "rules is null");
    }

    @Override
    public ConnectorSplitSource getSplits(
            ConnectorTransactionHandle transaction,
            ConnectorSession session,
            ConnectorTableHandle table,
            Set<ColumnHandle> dynamicFilterColumns,
            Constraint constraint)
    {
        Optional<CacheDecision> decision = decisions.apply(session);
        ConnectorSplitSource splits = delegate.getSplits(transaction, session, table, dynamicFilterColumns, constraint);
        if (decision.isEmpty() || !(table instanceof HiveTableHandle hiveTable)) {
            return splits;
        }
        RingView view = ringView.get();
        ScanPlacement placement = new ScanPlacement(origins, chunkSizeBytes, strategies.apply(session), maxSkews.applyAsDouble(session), view);
        SchemaTableName tableName = hiveTable.getSchemaTableName();
        Optional<RingEpoch> epoch = view.ring().isEmpty() ? Optional.empty() : Optional.of(view.ring().epoch());
        Optional<ScanRules> scanRules = rules.hasFile() ? Optional.of(rules.begin(RuleScan.of(session, tableName))) : Optional.empty();
        return new CachedHiveSplitSource(splits, placement, decision.get(), scanRules, (split, nodes, decided) -> CachedHiveSplit.of(split, nodes, tableName, decided, epoch));
    }

    @Override
    public ConnectorSplitSource getSplits(ConnectorTransactionHandle transaction, ConnectorSession session, ConnectorTableFunctionHandle function)
    {
        return delegate.getSplits(transaction, session, function);
    }
}
