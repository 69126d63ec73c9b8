package io.cachedhive.plugin.mode;

import io.airlift.log.Logger;

import java.util.Optional;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * Decides, on the coordinator, how a query's scans use the cache.
 */
public final class CacheDecisions
{
    private static final Logger log = Logger.get(CacheDecisions.class);

    private final String catalog;
    private final CacheMode configuredMode;
    private final Supplier<Optional<CacheMode>> ruledMode;
    private final Optional<String> permissionProblem;
    private volatile Optional<CacheMode> calledMode = Optional.empty();

    /**
     * @param ruledMode what the rules file says at the moment; it is over the configured mode
     * @param permissionProblem why nothing of the catalog may be cached: one sentence with its remedy
     */
    public CacheDecisions(String catalog, CacheMode configuredMode, Supplier<Optional<CacheMode>> ruledMode, Optional<String> permissionProblem)
    {
        this.catalog = requireNonNull(catalog, "catalog is null");
        this.configuredMode = requireNonNull(configuredMode, "configuredMode is null");
        this.ruledMode = requireNonNull(ruledMode, "ruledMode is null");
        this.permissionProblem = requireNonNull(permissionProblem, "permissionProblem is null");
    }

    /**
     * Empty for exactly plain Hive.
     *
     * @param cacheEnabled whether the session reads through the cache
     */
    public Optional<CacheDecision> decide(boolean cacheEnabled)
    {
        if (permissionProblem.isPresent() || !cacheEnabled) {
            return Optional.empty();
        }
        return switch (mode()) {
            case ON -> Optional.of(CacheDecision.CACHE);
            case READ_ONLY -> Optional.of(CacheDecision.CACHE.withoutFill());
            case SHADOW -> Optional.of(CacheDecision.SHADOW);
            case OFF -> Optional.empty();
        };
    }

    /**
     * That of scans that begin now.
     */
    public CacheMode mode()
    {
        return calledMode.or(ruledMode).orElse(configuredMode);
    }

    /**
     * @param mode over all that files say, until this coordinator ends; empty to go by them again
     */
    public void setMode(Optional<CacheMode> mode)
    {
        calledMode = mode;
        log.info("Catalog %s has cache mode %s now", catalog, mode());
    }

    public String catalog()
    {
        return catalog;
    }

    /**
     * Whether any scan of the catalog asks cache workers.
     */
    public boolean mayCache()
    {
        return mode() != CacheMode.OFF && permissionProblem.isEmpty();
    }

    /**
     * Why scans of the catalog do not fill the cache, in one sentence with its remedy; empty if they do.
     */
    public Optional<String> problem()
    {
        if (permissionProblem.isPresent()) {
            return permissionProblem;
        }
        CacheMode mode = mode();
        String what = switch (mode) {
            case ON -> "";
            case READ_ONLY -> "fetches nothing into the cache";
            case SHADOW, OFF -> "is read without the cache";
        };
        if (what.isEmpty()) {
            return Optional.empty();
        }
        String remedy = "CALL system.set_cache_mode('ON') ends that";
        if (calledMode.isEmpty()) {
            remedy = ruledMode.get().isPresent() ? "change it in the rules file" : "change cachedhive.mode, or CALL system.set_cache_mode('ON')";
        }
        return Optional.of("catalog %s %s, because its mode is %s: %s".formatted(catalog, what, mode, remedy));
    }
}
