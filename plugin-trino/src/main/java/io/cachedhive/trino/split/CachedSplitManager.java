package io.cachedhive.trino.split;

import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.placement.RecentLoad;
import io.cachedhive.plugin.placement.ScanPlacement;
import io.cachedhive.plugin.rules.RuleRegistry;
import io.cachedhive.plugin.rules.ScanRules;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.cachedhive.trino.rules.RuleScans;
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
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import static io.cachedhive.trino.session.CacheSessionProperties.getMaxScanSkew;
import static io.cachedhive.trino.session.CacheSessionProperties.getNodeSelectionStrategy;
import static java.util.Objects.requireNonNull;

/**
 * Decides for each scan whether it uses the cache, lets the rules decide for each of its splits, and sends them to where their bytes are.
 */
public final class CachedSplitManager
        implements ConnectorSplitManager
{
    private final ConnectorSplitManager delegate;
    private final ConnectorAdapter adapter;
    private final FileOrigins origins;
    private final long chunkSizeBytes;
    private final Supplier<RingView> ringView;
    private final RecentLoad load;
    private final Function<ConnectorSession, Optional<CacheDecision>> decisions;
    private final RuleRegistry rules;
    private final Consumer<String> scanStarts;

    /**
     * @param ringView the ring at the moment
     * @param load by queries, which are named by their transactions
     * @param decisions empty for a scan that shall be exactly the connector's own
     * @param scanStarts receives the id of the query of each scan
     */
    public CachedSplitManager(
            ConnectorSplitManager delegate,
            ConnectorAdapter adapter,
            FileOrigins origins,
            long chunkSizeBytes,
            Supplier<RingView> ringView,
            RecentLoad load,
            Function<ConnectorSession, Optional<CacheDecision>> decisions,
            RuleRegistry rules,
            Consumer<String> scanStarts)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.adapter = requireNonNull(adapter, "adapter is null");
        this.origins = requireNonNull(origins, "origins is null");
        this.chunkSizeBytes = chunkSizeBytes;
        this.ringView = requireNonNull(ringView, "ringView is null");
        this.load = requireNonNull(load, "load is null");
        this.decisions = requireNonNull(decisions, "decisions is null");
        this.rules = requireNonNull(rules, "rules is null");
        this.scanStarts = requireNonNull(scanStarts, "scanStarts is null");
    }

    @Override
    public ConnectorSplitSource getSplits(
            ConnectorTransactionHandle transaction,
            ConnectorSession session,
            ConnectorTableHandle table,
            Set<ColumnHandle> dynamicFilterColumns,
            Constraint constraint)
    {
        scanStarts.accept(session.getQueryId());
        Optional<CacheDecision> decision = decisions.apply(session);
        ConnectorSplitSource splits = delegate.getSplits(transaction, session, table, dynamicFilterColumns, constraint);
        Optional<SchemaTableName> tableName = adapter.findTable(table);
        if (decision.isEmpty() || tableName.isEmpty()) {
            return splits;
        }
        RingView view = ringView.get();
        ScanPlacement placement = new ScanPlacement(
                origins,
                chunkSizeBytes,
                getNodeSelectionStrategy(session),
                getMaxScanSkew(session),
                view,
                load.query(transaction));
        Optional<RingEpoch> epoch = view.ring().isEmpty() ? Optional.empty() : Optional.of(view.ring().epoch());
        Optional<ScanRules> scanRules = rules.hasFile() ? Optional.of(rules.begin(RuleScans.of(session, tableName.get()))) : Optional.empty();
        return new CachedSplitSource(
                splits,
                adapter,
                placement,
                adapter.fillsCache(table) ? decision.get() : decision.get().withoutFill(),
                scanRules,
                adapter.partitionValues(table),
                (split, nodes, decided) -> CachedSplit.of(split, nodes, tableName.get(), decided, epoch));
    }

    @Override
    public ConnectorSplitSource getSplits(ConnectorTransactionHandle transaction, ConnectorSession session, ConnectorTableFunctionHandle function)
    {
        return delegate.getSplits(transaction, session, function);
    }
}
