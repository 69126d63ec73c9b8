package io.cachedhive.testing.cluster.home;

import com.google.common.collect.ImmutableList;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import static com.google.common.base.Preconditions.checkState;

/**
 * Where the build left the parts that a cluster is assembled from.
 */
public final class Distribution
{
    /** System property that names the repository's root when neither the working directory nor the class path is inside it. */
    public static final String ROOT_PROPERTY = "cachedhive.root";

    // what the modules of this project build, and no jar of Trino's Hive plugin is called
    private static final List<String> OWN_JAR_PREFIXES = List.of("plugin-", "cache-");

    private final Path root;

    private Distribution(Path root)
    {
        this.root = root.toAbsolutePath().normalize();
    }

    public static Distribution ofRepository(Path root)
    {
        checkState(isRoot(root), "not the root of the cachedhive repository: %s", root);
        return new Distribution(root);
    }

    /**
     * The repository that the system property {@code cachedhive.root} names, or else the one around the working directory, or else around this class.
     */
    public static Distribution find()
    {
        String named = System.getProperty(ROOT_PROPERTY);
        if (named != null) {
            return ofRepository(Path.of(named));
        }
        return rootAround(Path.of("").toAbsolutePath())
                .or(() -> rootAround(ownLocation()))
                .map(Distribution::new)
                .orElseThrow(() -> new IllegalStateException("no cachedhive repository around %s; name it with -D%s=…".formatted(Path.of("").toAbsolutePath(), ROOT_PROPERTY)));
    }

    private static Path ownLocation()
    {
        try {
            return Path.of(Distribution.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        }
        catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Optional<Path> rootAround(Path path)
    {
        return Stream.iterate(path, directory -> directory != null, Path::getParent)
                .filter(Distribution::isRoot)
                .findFirst();
    }

    private static boolean isRoot(Path directory)
    {
        return Stream.of("pom.xml", "testing-cluster/pom.xml", "plugin-cachedhive/pom.xml")
                .allMatch(file -> Files.exists(directory.resolve(file)));
    }

    public Path root()
    {
        return root;
    }

    /** Jars of a Trino server with the engine extension. */
    public Path trinoServerLibrary()
    {
        return root.resolve("engine-extension/target/trino-server/lib");
    }

    /** The plugin directory of cachedhive. */
    public Path cachedHivePlugin()
    {
        return root.resolve("plugin-cachedhive/target/plugin/cachedhive");
    }

    /** Jars that exist for the tpch connector only; the rest of what it needs is among those of cachedhive. */
    public Path tpchJars()
    {
        return root.resolve("testing-cluster/target/plugin/tpch");
    }

    /** Jars that exist for the exchange on file systems only, which fault-tolerant execution needs; the rest of what it needs is among those of cachedhive. */
    public Path exchangeJars()
    {
        return root.resolve("testing-cluster/target/plugin/exchange-filesystem");
    }

    /** Jars that the Hive Metastore runs with. */
    public Path metastoreLibrary()
    {
        return root.resolve("testing-metastore/target/metastore/lib");
    }

    /** The configuration of the Hive Metastore, and the file system that it sees. */
    public Path metastoreClasses()
    {
        return root.resolve("testing-metastore/target/classes");
    }

    /** Airlift's launcher: the directory with {@code launcher} in it. */
    public Path launcher()
    {
        return root.resolve("testing-cluster/target/launcher/bin");
    }

    /**
     * The package of the cache worker, unpacked.
     *
     * @throws IllegalStateException if it has not been built
     */
    public Path cacheWorker()
    {
        return findCacheWorker()
                .orElseThrow(() -> new IllegalStateException("the cache worker has not been built: no directory cache-worker-* in " + root.resolve("cache-worker-daemon/target")));
    }

    private Optional<Path> findCacheWorker()
    {
        Path target = root.resolve("cache-worker-daemon/target");
        if (!Files.isDirectory(target)) {
            return Optional.empty();
        }
        return list(target).stream()
                .filter(path -> path.getFileName().toString().startsWith("cache-worker-") && Files.exists(path.resolve("bin/launcher")))
                .findFirst();
    }

    /** The commented configuration that is shipped. */
    Path etc()
    {
        return root.resolve("etc");
    }

    /** Jars that make a plain Hive plugin: those of cachedhive without its own. */
    List<Path> hivePluginJars()
    {
        return list(cachedHivePlugin()).stream()
                .filter(path -> !isOwnJar(path))
                .collect(ImmutableList.toImmutableList());
    }

    private static boolean isOwnJar(Path jar)
    {
        String name = jar.getFileName().toString();
        return OWN_JAR_PREFIXES.stream().anyMatch(name::startsWith);
    }

    /** What has to be built before a cluster can be assembled: one path each, empty when all is there. */
    public List<Path> missing()
    {
        Path cacheWorker = findCacheWorker().orElse(root.resolve("cache-worker-daemon/target/cache-worker"));
        return Stream.of(trinoServerLibrary(), cachedHivePlugin(), tpchJars(), exchangeJars(), launcher(), cacheWorker)
                .filter(path -> !Files.isDirectory(path))
                .toList();
    }

    static List<Path> list(Path directory)
    {
        try (Stream<Path> paths = Files.list(directory)) {
            return paths.sorted().toList();
        }
        catch (IOException e) {
            throw new UncheckedIOException("cannot list %s: has it been built?".formatted(directory), e);
        }
    }
}
