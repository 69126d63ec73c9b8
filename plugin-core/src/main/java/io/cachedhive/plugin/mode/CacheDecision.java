package io.cachedhive.plugin.mode;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.protocol.wire.FillTerms;

import java.util.Optional;
import java.util.OptionalLong;

import static java.util.Objects.requireNonNull;

/**
 * How a split is read. Made once, on the coordinator, and carried in the split; a scan that is exactly plain Hive's has no decision at all.
 *
 * @param bypass whether the split is read from the origin, and the cache is asked for nothing
 * @param fill whether what is missing is fetched into the cache
 * @param shadow whether the split is read from the origin, and cache workers only hear which blocks are asked for
 * @param fillClass how much its blocks are worth keeping; empty if nothing says so
 * @param ttlMillis from the fill until its blocks expire; empty for the cache workers' {@code cache.ttl}
 * @param tableQuotaBytes of its table, over all cache workers of the ring; {@link FillTerms#NO_QUOTA} for none, empty if nothing says so
 * @param fillsAsGuests whether the reading host is to keep as guests also what its owner on another host fetches for it, not only what that has
 */
public record CacheDecision(
        @JsonProperty("bypass") boolean bypass,
        @JsonProperty("fill") boolean fill,
        @JsonProperty("shadow") boolean shadow,
        @JsonProperty("fillClass") Optional<FillClass> fillClass,
        @JsonProperty("ttlMillis") OptionalLong ttlMillis,
        @JsonProperty("tableQuotaBytes") OptionalLong tableQuotaBytes,
        @JsonProperty("fillsAsGuests") boolean fillsAsGuests)
{
    public static final CacheDecision CACHE = cache(Optional.empty(), OptionalLong.empty());
    public static final CacheDecision SHADOW = new CacheDecision(false, false, true, Optional.empty(), OptionalLong.empty(), OptionalLong.empty(), false);
    public static final CacheDecision BYPASS = new CacheDecision(true, false, false, Optional.empty(), OptionalLong.empty(), OptionalLong.empty(), false);

    public CacheDecision
    {
        requireNonNull(fillClass, "fillClass is null");
        requireNonNull(ttlMillis, "ttlMillis is null");
        requireNonNull(tableQuotaBytes, "tableQuotaBytes is null");
    }

    public static CacheDecision cache(Optional<FillClass> fillClass, OptionalLong ttlMillis)
    {
        return new CacheDecision(false, true, false, fillClass, ttlMillis, OptionalLong.empty(), false);
    }

    /**
     * The same, for a table with such a quota.
     */
    public CacheDecision withTableQuota(OptionalLong bytes)
    {
        return bypass || tableQuotaBytes.equals(bytes) ? this : new CacheDecision(false, fill, shadow, fillClass, ttlMillis, bytes, fillsAsGuests);
    }

    /**
     * The same, with nothing fetched into the cache.
     */
    public CacheDecision withoutFill()
    {
        return fill ? new CacheDecision(bypass, false, shadow, fillClass, ttlMillis, tableQuotaBytes, fillsAsGuests) : this;
    }

    /**
     * The same, for a split that a host reads in each scan though another owns it.
     */
    public CacheDecision withFillsAsGuests()
    {
        return bypass || fillsAsGuests ? this : new CacheDecision(false, fill, shadow, fillClass, ttlMillis, tableQuotaBytes, true);
    }

    /**
     * What a rule decided for a split, within what was decided for the scan.
     */
    public CacheDecision within(CacheDecision scan)
    {
        if (bypass || scan.bypass()) {
            return BYPASS;
        }
        if (scan.shadow()) {
            return SHADOW;
        }
        return scan.fill() ? this : withoutFill();
    }

    public FillTerms terms()
    {
        return new FillTerms(fillClass, ttlMillis, tableQuotaBytes);
    }
}
