package io.cachedhive.plugin.connector;

import com.google.inject.Inject;
import io.cachedhive.plugin.ahead.FetchAhead;
import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.rules.RuleRegistry;
import io.trino.spi.connector.SystemTable;

import java.util.Set;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * What the connector adds to Hive's from outside. The rest is bound inside, by {@link CachedHiveModule}.
 */
record ConnectorExtensions(
        CachedHiveConfig config,
        FileOrigins origins,
        CacheDecisions decisions,
        Supplier<RingView> ringView,
        FetchAhead fetchAhead,
        RuleRegistry rules,
        Set<SystemTable> systemTables)
{
    @Inject
    ConnectorExtensions
    {
        requireNonNull(config, "config is null");
        requireNonNull(origins, "origins is null");
        requireNonNull(decisions, "decisions is null");
        requireNonNull(ringView, "ringView is null");
        requireNonNull(fetchAhead, "fetchAhead is null");
        requireNonNull(rules, "rules is null");
        systemTables = Set.copyOf(systemTables);
    }
}
