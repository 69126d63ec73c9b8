package io.cachedhive.plugin.event;

/**
 * What a change of the cache is about.
 */
public enum EventType
{
    /**
     * The mode of the catalog, by a procedure or by the rules file.
     */
    MODE,
    RULES,
    /**
     * The cache workers of the ring.
     */
    RING,
    FLUSH,
    PIN,
    PRELOAD,
    /**
     * Calls of procedures that belong to none of the types above.
     */
    OTHER;

    /**
     * Returns the type of the calls of a procedure.
     */
    static EventType ofProcedure(String name)
    {
        return switch (name) {
            case "set_cache_mode" -> MODE;
            case "refresh_cache_rules" -> RULES;
            case "flush_data_cache", "flush_location" -> FLUSH;
            case "pin_partition", "unpin_partition" -> PIN;
            case "preload_table", "preload_partition", "cancel_preload" -> PRELOAD;
            default -> OTHER;
        };
    }
}
