package io.cachedhive.trino.connector;

import com.google.inject.Inject;
import io.cachedhive.plugin.ahead.FetchAhead;
import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.rules.RuleRegistry;
import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.cachedhive.trino.adapter.ScanFileSystems;
import io.cachedhive.trino.query.ScanReporter;
import io.cachedhive.trino.table.ForCache;
import io.trino.spi.connector.SystemTable;

import java.util.Set;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * What is added to the connector from outside. The rest is bound inside, by {@link CacheModule}.
 */
public record CacheServices(
        ConnectorAdapter adapter,
        ScanFileSystems fileSystems,
        CachedHiveConfig config,
        FileOrigins origins,
        CacheDecisions decisions,
        Supplier<RingView> ringView,
        FetchAhead fetchAhead,
        RuleRegistry rules,
        ScanReporter scanReporter,
        @ForCache Set<SystemTable> systemTables)
{
    @Inject
    public CacheServices
    {
        requireNonNull(adapter, "adapter is null");
        requireNonNull(fileSystems, "fileSystems is null");
        requireNonNull(config, "config is null");
        requireNonNull(origins, "origins is null");
        requireNonNull(decisions, "decisions is null");
        requireNonNull(ringView, "ringView is null");
        requireNonNull(fetchAhead, "fetchAhead is null");
        requireNonNull(rules, "rules is null");
        requireNonNull(scanReporter, "scanReporter is null");
        systemTables = Set.copyOf(systemTables);
    }
}
