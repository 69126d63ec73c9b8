package io.cachedhive.plugin.schedule;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * Ensures that only one of the catalogs with the same rules file and the same tables runs a schedule of that file at a scheduled time.
 */
public final class ScheduleClaims
{
    private static final ScheduleClaims THIS_PROCESS = new ScheduleClaims();

    @GuardedBy("this")
    private final Map<Key, Claim> claims = new HashMap<>();

    private record Key(String tables, String definition) {}

    private record Claim(String catalog, Instant time) {}

    ScheduleClaims() {}

    /**
     * Returns the claims of all catalogs in this process that the same plugin created.
     */
    public static ScheduleClaims ofThisProcess()
    {
        return THIS_PROCESS;
    }

    /**
     * Returns the claims for a catalog.
     *
     * @param tables is equal for catalogs of one coordinator that have the same rules file and the same tables
     */
    public Catalog of(String catalog, String tables)
    {
        return new Catalog(catalog, tables);
    }

    /**
     * The claims of one catalog.
     */
    public final class Catalog
    {
        private final String catalog;
        private final String tables;

        private Catalog(String catalog, String tables)
        {
            this.catalog = requireNonNull(catalog, "catalog is null");
            this.tables = requireNonNull(tables, "tables is null");
        }

        /**
         * Claims a run, unless another catalog runs the schedule for this time or a later one.
         *
         * @param definition of the schedule, as written in the file
         */
        boolean claim(String definition, Instant time)
        {
            synchronized (ScheduleClaims.this) {
                Claim claim = claims.get(new Key(tables, definition));
                if (claim != null && !claim.catalog().equals(catalog) && !claim.time().isBefore(time)) {
                    return false;
                }
                claims.put(new Key(tables, definition), new Claim(catalog, time));
                return true;
            }
        }

        /**
         * Gives up a claim, because the run could not begin.
         */
        void release(String definition)
        {
            synchronized (ScheduleClaims.this) {
                claims.computeIfPresent(new Key(tables, definition), (_, claim) -> claim.catalog().equals(catalog) ? null : claim);
            }
        }

        /**
         * Gives up all claims, because the catalog is shut down.
         */
        public void releaseAll()
        {
            synchronized (ScheduleClaims.this) {
                claims.entrySet().removeIf(claim -> claim.getKey().tables().equals(tables) && claim.getValue().catalog().equals(catalog));
            }
        }
    }
}
