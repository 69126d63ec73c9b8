package io.cachedhive.benchmark.queries;

import com.google.common.collect.ImmutableMap;

import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * What was read before a pass over a workload, and what changed since.
 */
public enum Phase
{
    /**
     * Nothing was read: no cache has ever seen the files.
     */
    COLD,
    /**
     * The same was read, once. Caches may still complete what they have not kept.
     */
    SECOND,
    /**
     * The same was read, more than once.
     */
    WARM,
    /**
     * Splits of an eighth of the default size. What Parquet has is a property of its own.
     */
    OTHER_SPLITS(Change.NONE, Map.of("max_split_size", "8MB", "parquet_max_split_size", "8MB")),
    /**
     * cachedhive lets splits run anywhere.
     */
    ANY_NODE(Change.NONE, Map.of("node_selection_strategy", "NO_PREFERENCE")),
    /**
     * All Trino servers were restarted.
     */
    TRINO_RESTARTED(Change.TRINO_RESTARTED, Map.of()),
    /**
     * All Trino servers and cache workers were restarted.
     */
    ALL_RESTARTED(Change.ALL_RESTARTED, Map.of()),
    /**
     * One host lost everything, as a new one in its place.
     */
    HOST_REPLACED(Change.HOST_REPLACED, Map.of());

    /**
     * What happens to the servers before a phase.
     */
    enum Change
    {
        NONE, TRINO_RESTARTED, ALL_RESTARTED, HOST_REPLACED
    }

    private final Change change;
    private final ImmutableMap<String, String> session;

    Phase()
    {
        this(Change.NONE, Map.of());
    }

    Phase(Change change, Map<String, String> session)
    {
        this.change = requireNonNull(change, "change is null");
        this.session = ImmutableMap.copyOf(session);
    }

    Change change()
    {
        return change;
    }

    /**
     * Returns the session properties of the catalog.
     */
    Map<String, String> session()
    {
        return session;
    }

    boolean concerns(Contender contender)
    {
        return this != ANY_NODE || contender == Contender.CACHEDHIVE;
    }

    /**
     * Whether it is measured in the last run only, after the others: what it is for are requests, which do not vary.
     */
    boolean isOnce()
    {
        return ordinal() > WARM.ordinal();
    }
}
