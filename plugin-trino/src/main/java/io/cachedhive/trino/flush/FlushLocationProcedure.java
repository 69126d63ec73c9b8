package io.cachedhive.trino.flush;

import com.google.inject.Inject;
import com.google.inject.Provider;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.origin.Tombstones;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;

import java.lang.invoke.MethodHandle;
import java.util.List;

import static io.trino.plugin.base.util.Procedures.checkProcedureArgument;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.lang.invoke.MethodHandles.lookup;
import static java.util.Objects.requireNonNull;

/**
 * {@code CALL system.flush_location(location)}: flushes a file, or all files whose location starts with a prefix that ends in {@code /}, also if no table has
 * them. The guarantees are those of {@link FlushDataCacheProcedure}.
 */
public final class FlushLocationProcedure
        implements Provider<Procedure>
{
    private static final MethodHandle FLUSH_LOCATION;

    static {
        try {
            FLUSH_LOCATION = lookup().unreflect(FlushLocationProcedure.class.getMethod("flushLocation", ConnectorSession.class, String.class));
        }
        catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private final String catalog;
    private final FileOrigins origins;
    private final Tombstones tombstones;
    private final Flusher flusher;
    private final ProcedureGuard guard;

    @Inject
    FlushLocationProcedure(CatalogName catalog, FileOrigins origins, Tombstones tombstones, Flusher flusher, ProcedureGuard guard)
    {
        this.catalog = requireNonNull(catalog, "catalog is null").toString();
        this.origins = requireNonNull(origins, "origins is null");
        this.tombstones = requireNonNull(tombstones, "tombstones is null");
        this.flusher = requireNonNull(flusher, "flusher is null");
        this.guard = requireNonNull(guard, "guard is null");
    }

    @Override
    public Procedure get()
    {
        return guard.restrict(new Procedure("system", "flush_location", List.of(new Argument("LOCATION", VARCHAR)), FLUSH_LOCATION.bindTo(this)));
    }

    /**
     * Called by the engine.
     */
    public void flushLocation(ConnectorSession session, String location)
    {
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(getClass().getClassLoader())) {
            checkProcedureArgument(location != null, "location cannot be null");
            checkProcedureArgument(
                    origins.find(location).isPresent(),
                    "location %s is in no store that catalog %s caches: write it as the table cache.files shows it, such as s3://bucket/file or s3://bucket/prefix/",
                    location,
                    catalog);
            checkProcedureArgument(
                    FileOrigins.hasPath(location),
                    "location %s names no file and no prefix: append a path, or / for all files of the bucket",
                    location);
            flusher.flush(location, tombstones.of(origins.spellings(location)));
        }
    }
}
