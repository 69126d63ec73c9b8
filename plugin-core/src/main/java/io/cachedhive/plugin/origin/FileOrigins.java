package io.cachedhive.plugin.origin;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import io.cachedhive.protocol.file.IsolationDomain;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * The origins of a catalog's files: one per kind of file system that the catalog enables.
 *
 * <p>The S3 origin goes by the name of {@code cachedhive.origin}, by which cache workers know how to read it themselves. The others have names that
 * no cache worker's origin has, so that their bytes come from the clients, which read them through Trino's file system.
 *
 * <p>The ids of the origins contain the isolation domain, so that catalogs with different credentials do not share cached bytes.
 */
public final class FileOrigins
{
    private static final List<String> GCS_CREDENTIALS = ImmutableList.of("gcs.auth-type", "gcs.json-key", "gcs.json-key-file-path");
    private static final List<String> AZURE_CREDENTIALS = ImmutableList.of(
            "azure.auth-type",
            "azure.access-key",
            "azure.oauth.tenant-id",
            "azure.oauth.client-id",
            "azure.user-assigned-managed-identity.client-id",
            "azure.user-assigned-managed-identity.resource-id");
    private static final List<String> HDFS_CREDENTIALS = ImmutableList.of(
            "hive.hdfs.authentication.type",
            "hive.hdfs.trino.principal",
            "hive.hdfs.trino.credential-cache.location",
            "hive.config.resources");

    private final List<NamedOrigin> origins;
    private final List<OriginRights> rights;
    private final Set<String> clientOrigins;
    private final Map<String, Integer> indexByScheme;

    private FileOrigins(List<NamedOrigin> origins, List<OriginRights> rights, Set<String> clientOrigins, Map<String, Integer> indexByScheme)
    {
        this.origins = requireNonNull(origins, "origins is null");
        this.rights = requireNonNull(rights, "rights is null");
        this.clientOrigins = requireNonNull(clientOrigins, "clientOrigins is null");
        this.indexByScheme = requireNonNull(indexByScheme, "indexByScheme is null");
    }

    /**
     * The origins of a catalog whose credentials determine the isolation domain.
     *
     * @param s3Origin the value of {@code cachedhive.origin}
     * @param properties of the catalog
     * @param cacheLocalFiles whether {@code file:} and {@code local:} locations are the same files on every host
     */
    public static FileOrigins of(String s3Origin, Map<String, String> properties, boolean cacheLocalFiles)
    {
        return of(s3Origin, properties, Optional.empty(), cacheLocalFiles);
    }

    /**
     * @param s3Origin the value of {@code cachedhive.origin}
     * @param properties of the catalog
     * @param domain the isolation domain; if empty, the credentials among the properties determine it
     * @param cacheLocalFiles whether {@code file:} and {@code local:} locations are the same files on every host
     */
    public static FileOrigins of(String s3Origin, Map<String, String> properties, Optional<IsolationDomain> domain, boolean cacheLocalFiles)
    {
        Builder builder = new Builder(properties, domain);
        if (isEnabled(properties, "s3")) {
            builder.addOfWorkers(s3Origin, "s3", property(properties, "s3.endpoint"), property(properties, "s3.region"), List.of("s3", "s3a", "s3n"));
        }
        if (isEnabled(properties, "gcs")) {
            builder.addOfClients(s3Origin + ".gs", "gs", property(properties, "gcs.endpoint"), Optional.empty(), GCS_CREDENTIALS, List.of("gs"));
        }
        if (isEnabled(properties, "azure")) {
            Optional<String> endpoint = property(properties, "azure.endpoint");
            // one account is the same files by any of these schemes, but a location under another scheme is another location anyway
            builder.addOfClients(s3Origin + ".abfs", "abfs", endpoint, Optional.empty(), AZURE_CREDENTIALS, List.of("abfs", "abfss", "wasb", "wasbs"));
        }
        if (isEnabled(properties, "hadoop")) {
            builder.addOfClients(s3Origin + ".hdfs", "hdfs", Optional.empty(), Optional.empty(), HDFS_CREDENTIALS, List.of("hdfs"));
        }
        if (cacheLocalFiles && isEnabled(properties, "local")) {
            // not an endpoint, and its case matters: OriginId folds the case of all that it is given
            Optional<String> root = property(properties, "local.location").map(path -> HexFormat.of().formatHex(path.getBytes(StandardCharsets.UTF_8)));
            builder.addOfClients(s3Origin + ".local", "local", Optional.empty(), root, List.of(), List.of("local"));
            builder.addOfClients(s3Origin + ".file", "file", Optional.empty(), Optional.empty(), List.of(), List.of("file"));
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
     * Returns the rights that the catalog reads its origins with, in the order of {@link #origins()}.
     */
    public List<OriginRights> rights()
    {
        return rights;
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

    /**
     * The location with each scheme by which it can name the same file: {@code s3a://bucket/file} is also {@code s3://bucket/file} and {@code s3n://bucket/file}.
     *
     * @param location one that {@link #find} knows
     */
    public List<String> spellings(String location)
    {
        String scheme = scheme(location).orElseThrow();
        Integer index = indexByScheme.get(scheme.toLowerCase(Locale.ROOT));
        Stream<String> others = indexByScheme.entrySet().stream()
                .filter(other -> other.getValue().equals(index))
                .map(other -> other.getKey() + location.substring(scheme.length()));
        return Stream.concat(Stream.of(location), others).distinct().toList();
    }

    /**
     * Whether anything follows the authority of a location, if only {@code /}.
     */
    public static boolean hasPath(String location)
    {
        int start = location.indexOf(':') + 1;
        return location.indexOf('/', location.startsWith("//", start) ? start + 2 : start) >= 0;
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

    /**
     * @param domain the isolation domain in the id of the origin
     * @param credentials the isolation domain that the credentials would have if no other were configured
     */
    public record OriginRights(NamedOrigin origin, IsolationDomain domain, IsolationDomain credentials) {}

    private static final class Builder
    {
        private final Map<String, String> properties;
        private final Optional<IsolationDomain> domain;
        private final ImmutableList.Builder<NamedOrigin> origins = ImmutableList.builder();
        private final ImmutableList.Builder<OriginRights> rights = ImmutableList.builder();
        private final ImmutableSet.Builder<String> clientOrigins = ImmutableSet.builder();
        private final ImmutableMap.Builder<String, Integer> indexByScheme = ImmutableMap.builder();
        private int count;

        Builder(Map<String, String> properties, Optional<IsolationDomain> domain)
        {
            this.properties = properties;
            this.domain = domain;
        }

        void addOfClients(String name, String scheme, Optional<String> endpoint, Optional<String> region, List<String> credentials, List<String> schemes)
        {
            clientOrigins.add(name);
            Map<String, String> own = new HashMap<>();
            credentials.forEach(credential -> property(properties, credential).ifPresent(value -> own.put(credential, value)));
            add(name, scheme, endpoint, region, IsolationDomain.ofS3(properties).with(own), schemes);
        }

        void addOfWorkers(String name, String scheme, Optional<String> endpoint, Optional<String> region, List<String> schemes)
        {
            add(name, scheme, endpoint, region, IsolationDomain.ofS3(properties), schemes);
        }

        private void add(String name, String scheme, Optional<String> endpoint, Optional<String> region, IsolationDomain credentials, List<String> schemes)
        {
            IsolationDomain used = domain.orElse(credentials);
            NamedOrigin origin = new NamedOrigin(name, OriginId.of(scheme, endpoint, region, used));
            origins.add(origin);
            rights.add(new OriginRights(origin, used, credentials));
            schemes.forEach(value -> indexByScheme.put(value, count));
            count++;
        }

        FileOrigins build()
        {
            return new FileOrigins(origins.build(), rights.build(), clientOrigins.build(), indexByScheme.buildOrThrow());
        }
    }
}
