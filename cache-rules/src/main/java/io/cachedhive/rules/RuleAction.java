package io.cachedhive.rules;

/**
 * What the cache does with the reads that a rule matches.
 */
public enum RuleAction
{
    CACHE,
    /**
     * Reads get cached blocks from the cache and everything else from the origin. Nothing is added to the cache.
     */
    READ_ONLY,
    /**
     * Reads bypass the cache. Cache workers only record the requested blocks, to predict hit rates.
     */
    SHADOW,
    BYPASS,
}
