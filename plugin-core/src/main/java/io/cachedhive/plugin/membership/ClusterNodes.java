package io.cachedhive.plugin.membership;

import java.util.Collection;

/**
 * The Trino cluster, as far as the cache has to know it.
 */
public interface ClusterNodes
{
    /**
     * The active workers at the moment.
     */
    Collection<ClusterNode> workers();
}
