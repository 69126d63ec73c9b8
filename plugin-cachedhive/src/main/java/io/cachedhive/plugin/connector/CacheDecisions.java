package io.cachedhive.plugin.connector;

import io.cachedhive.plugin.context.CacheDecision;
import io.trino.spi.connector.ConnectorSession;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Decides, on the coordinator, how a query's scans use the cache.
 */
public final class CacheDecisions
{
    private final CacheMode mode;
    private final Optional<String> problem;

    /**
     * @param problem why nothing of the catalog may be cached: one sentence with its remedy
     */
    CacheDecisions(CacheMode mode, Optional<String> problem)
    {
        this.mode = requireNonNull(mode, "mode is null");
        this.problem = requireNonNull(problem, "problem is null");
    }

    /**
     * Empty for exactly plain Hive.
     */
    public Optional<CacheDecision> decide(ConnectorSession session)
    {
        if (!mayCache() || !CacheSessionProperties.isCacheEnabled(session)) {
            return Optional.empty();
        }
        return Optional.of(CacheDecision.CACHE);
    }

    /**
     * Whether any scan of the catalog uses the cache.
     */
    public boolean mayCache()
    {
        return mode == CacheMode.ON && problem.isEmpty();
    }

    public Optional<String> problem()
    {
        return problem;
    }
}
