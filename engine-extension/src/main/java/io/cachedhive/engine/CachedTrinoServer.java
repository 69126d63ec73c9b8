package io.cachedhive.engine;

import com.google.common.collect.ImmutableList;
import com.google.inject.Module;
import io.cachedhive.engine.query.QueriesModule;
import io.trino.server.Server;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Trino's server with the schema {@code cache} in its global {@code system} catalog. A Trino home names it as {@code main-class}
 * in {@code bin/launcher.properties}, on the coordinator and on every worker.
 */
public final class CachedTrinoServer
        extends Server
{
    /** The modules of the server and the tables that it adds to are internal to Trino, and change from one version to the next. */
    private static final String TRINO_VERSION = "483";
    // what companies call their own builds: 483-corp.2, 483.1
    private static final Pattern BUILD_OF_TRINO_VERSION = Pattern.compile(TRINO_VERSION + "[-.+].+");
    // what Trino's own server exits with when it cannot start
    private static final int CANNOT_START = 100;

    private CachedTrinoServer() {}

    public static void main(String[] args)
    {
        Optional<String> version = Optional.ofNullable(Server.class.getPackage().getImplementationVersion());
        Optional<String> problem = checkVersion(version);
        if (problem.isPresent()) {
            System.err.println(problem.get());
            System.exit(CANNOT_START);
        }
        new CachedTrinoServer().start(version.orElseThrow());
    }

    /**
     * A sentence for the operator if this is not the version of Trino that the extension was made for. A company's own build of that version is accepted;
     * the catalog's plugin warns of it.
     */
    static Optional<String> checkVersion(Optional<String> version)
    {
        if (version.filter(found -> found.equals(TRINO_VERSION) || BUILD_OF_TRINO_VERSION.matcher(found).matches()).isPresent()) {
            return Optional.empty();
        }
        return Optional.of(("This server extension of cachedhive is made for Trino %s and found Trino %s:" +
                " start Trino's own main class in bin/launcher.properties, or install the extension that belongs to this Trino.")
                .formatted(TRINO_VERSION, version.orElse("of unknown version")));
    }

    @Override
    protected Iterable<? extends Module> getAdditionalModules()
    {
        return ImmutableList.of(new CacheSchemaModule(), new QueriesModule());
    }
}
