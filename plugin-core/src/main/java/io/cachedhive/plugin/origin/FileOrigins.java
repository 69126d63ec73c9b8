package io.cachedhive.plugin.origin;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * The origins of a catalog's files: one per kind of file system that the catalog enables.
 *
 * <p>The S3 origin goes by the name of {@code cachedhive.origin}, by which cache workers know how to read it themselves. The others have names that
 * no cache worker's origin has, so that their bytes come from the clients, which read them through Trino's file system.
 */
public final class FileOrigins
{
    private final List<NamedOrigin> origins;
    private final Set<String> clientOrigins;
    private final Map<String, Integer> indexByScheme;

    private FileOrigins(List<NamedOrigin> origins, Set<String> clientOrigins, Map<String, Integer> indexByScheme)
    {
        this.origins = requireNonNull(origins, "origins is null");
        this.clientOrigins = requireNonNull(clientOrigins, "clientOrigins is null");
        this.indexByScheme = requireNonNull(indexByScheme, "indexByScheme is null");
    }

    /**
     * @param s3Origin the value of {@code cachedhive.origin}
     * @param properties of the catalog
     * @param cacheLocalFiles whether {@code file:} and {@code local:} locations are the same files on every host
     */
    public static FileOrigins of(String s3Origin, Map<String, String> properties, boolean cacheLocalFiles)
    {
        Builder builder = new Builder();
        if (isEnabled(properties, "s3")) {
            builder.addOfWorkers(s3Origin, OriginId.of("s3", property(properties, "s3.endpoint"), property(properties, "s3.region")), "s3", "s3a", "s3n");
        }
        if (isEnabled(properties, "gcs")) {
            builder.addOfClients(s3Origin + ".gs", OriginId.of("gs", property(properties, "gcs.endpoint"), Optional.empty()), "gs");
        }
        if (isEnabled(properties, "azure")) {
            Optional<String> endpoint = property(properties, "azure.endpoint");
            // one account is the same files by any of these schemes, but a location under another scheme is another location anyway
            builder.addOfClients(s3Origin + ".abfs", OriginId.of("abfs", endpoint, Optional.empty()), "abfs", "abfss", "wasb", "wasbs");
        }
        if (isEnabled(properties, "hadoop")) {
            builder.addOfClients(s3Origin + ".hdfs", OriginId.of("hdfs", Optional.empty(), Optional.empty()), "hdfs");
        }
        if (cacheLocalFiles && isEnabled(properties, "local")) {
            // not an endpoint, and its case matters: OriginId folds the case of all that it is given
            Optional<String> root = property(properties, "local.location").map(path -> HexFormat.of().formatHex(path.getBytes(StandardCharsets.UTF_8)));
            builder.addOfClients(s3Origin + ".local", OriginId.of("local", Optional.empty(), root), "local");
            builder.addOfClients(s3Origin + ".file", OriginId.of("file", Optional.empty(), Optional.empty()), "file");
        }
        return builder.build();
    }

    private static boolean isEnabled(Map<String, String> properties, String fileSystem)
    {
        return properties.getOrDefault("fs.%s.enabled".formatted(fileSystem), properties.getOrDefault("fs.native-%s.enabled".formatted(fileSystem), ""))
                .strip()
                .equalsIgnoreCase("true");
    }

    private static Optional<String> property(Map<String, String> properties, String name)
    {
        return Optional.ofNullable(properties.get(name)).map(String::strip).filter(value -> !value.isEmpty());
    }

    /**
     * As the catalog's client introduces itself to cache workers.
     */
    public List<NamedOrigin> origins()
    {
        return origins;
    }

    /**
     * Returns the names of the origins that no cache worker can read.
     */
    public Set<String> clientOrigins()
    {
        return clientOrigins;
    }

    /**
     * @param location {@code scheme://authority/path}, {@code scheme:/path} or a path alone
     * @return empty if files there are not cached
     */
    public Optional<FileOrigin> find(String location)
    {
        Optional<String> scheme = scheme(location);
        Optional<Integer> index = scheme.map(value -> indexByScheme.get(value.toLowerCase(Locale.ROOT)));
        if (index.isEmpty()) {
            return Optional.empty();
        }
        NamedOrigin origin = origins.get(index.get());
        if (!isLocal(scheme.get()) && !hasHost(location, scheme.get())) {
            // without an authority the file system's defaults decide what is meant
            return Optional.empty();
        }
        return Optional.of(new FileOrigin(index.get(), origin.id()));
    }

    public static boolean isS3(String location)
    {
        return scheme(location).map(OriginId::normalizeScheme).filter("s3"::equals).isPresent();
    }

    private static boolean isLocal(String scheme)
    {
        return scheme.equals("file") || scheme.equals("local");
    }

    private static Optional<String> scheme(String location)
    {
        int colon = location.indexOf(':');
        return colon <= 0 || location.startsWith("/") ? Optional.empty() : Optional.of(location.substring(0, colon));
    }

    /**
     * Whether the authority ({@code user@host:port}) names a host.
     */
    private static boolean hasHost(String location, String scheme)
    {
        int start = scheme.length() + "://".length();
        if (!location.startsWith("://", scheme.length())) {
            return false;
        }
        int slash = location.indexOf('/', start);
        String authority = location.substring(start, slash < 0 ? location.length() : slash);
        String host = authority.substring(authority.indexOf('@') + 1);
        return !host.isEmpty() && host.charAt(0) != ':';
    }

    /**
     * @param index the place in {@link #origins()}
     */
    public record FileOrigin(int index, OriginId id) {}

    private static final class Builder
    {
        private final ImmutableList.Builder<NamedOrigin> origins = ImmutableList.builder();
        private final ImmutableSet.Builder<String> clientOrigins = ImmutableSet.builder();
        private final ImmutableMap.Builder<String, Integer> indexByScheme = ImmutableMap.builder();
        private int count;

        void addOfClients(String name, OriginId id, String... schemes)
        {
            clientOrigins.add(name);
            addOfWorkers(name, id, schemes);
        }

        void addOfWorkers(String name, OriginId id, String... schemes)
        {
            origins.add(new NamedOrigin(name, id));
            for (String scheme : schemes) {
                indexByScheme.put(scheme, count);
            }
            count++;
        }

        FileOrigins build()
        {
            return new FileOrigins(origins.build(), clientOrigins.build(), indexByScheme.buildOrThrow());
        }
    }
}
