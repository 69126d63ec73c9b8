package io.cachedhive.plugin.context;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * How a scan uses the cache. Made once, on the coordinator, and carried in the scan's splits; a scan that does not use it has no decision at all.
 *
 * @param fill whether what is missing is fetched into the cache
 */
public record CacheDecision(@JsonProperty("fill") boolean fill)
{
    public static final CacheDecision CACHE = new CacheDecision(true);
}
