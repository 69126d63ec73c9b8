package io.cachedhive.worker.origin;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The buckets and prefixes that a worker may read from an origin.
 *
 * <p>Prefixes end at path elements: {@code s3://bucket/a} permits {@code s3://bucket/a/file}, and not
 * {@code s3://bucket/ab}. Keys with an empty path element, {@code .} or {@code ..} are not permitted, because some object
 * stores resolve them to other keys.
 */
public final class AllowedLocations
{
    /**
     * Permits all locations.
     */
    public static final AllowedLocations ALL = new AllowedLocations(Optional.empty());

    private static final String SCHEME = "s3://";

    private final Optional<List<Prefix>> prefixes;

    private AllowedLocations(Optional<List<Prefix>> prefixes)
    {
        this.prefixes = requireNonNull(prefixes, "prefixes is null");
    }

    /**
     * @param locations {@code s3://bucket}, or {@code s3://bucket/prefix} with or without a slash at the end; all locations are
     * permitted if the list is empty
     * @throws IllegalArgumentException if a location has another form; the message names it
     */
    public static AllowedLocations of(List<String> locations)
    {
        if (locations.isEmpty()) {
            return ALL;
        }
        List<Prefix> prefixes = new ArrayList<>();
        for (String location : locations) {
            prefixes.add(Prefix.parse(location).orElseThrow(() -> new IllegalArgumentException(
                    "allowed-locations has %s, which is no s3://bucket/prefix/ without empty path elements, '.' and '..': correct it".formatted(location))));
        }
        return new AllowedLocations(Optional.of(List.copyOf(prefixes)));
    }

    /**
     * @param location a location of a file, with any of the schemes of S3
     */
    public boolean permit(String location)
    {
        if (prefixes.isEmpty()) {
            return true;
        }
        Optional<S3ObjectLocation> object = S3ObjectLocation.parse(location).filter(parsed -> isCanonical(parsed.key()));
        return object.isPresent() && prefixes.get().stream().anyMatch(prefix -> prefix.contains(object.get()));
    }

    private static boolean isCanonical(String key)
    {
        for (String element : key.split("/", -1)) {
            if (element.isEmpty() || element.equals(".") || element.equals("..")) {
                return false;
            }
        }
        return true;
    }

    /**
     * @param path without a slash at the end; empty for a whole bucket
     * @param file whether the path itself may be a file
     */
    private record Prefix(String bucket, String path, boolean file)
    {
        static Optional<Prefix> parse(String location)
        {
            if (!location.startsWith(SCHEME)) {
                return Optional.empty();
            }
            String rest = location.substring(SCHEME.length());
            int slash = rest.indexOf('/');
            String bucket = slash < 0 ? rest : rest.substring(0, slash);
            String path = slash < 0 ? "" : rest.substring(slash + 1);
            boolean file = !path.endsWith("/");
            if (!file) {
                path = path.substring(0, path.length() - 1);
                if (path.isEmpty()) {
                    return Optional.empty();
                }
            }
            if (bucket.isEmpty() || bucket.indexOf('@') >= 0 || bucket.indexOf(':') >= 0 || (!path.isEmpty() && !isCanonical(path))) {
                return Optional.empty();
            }
            return Optional.of(new Prefix(bucket, path, file));
        }

        boolean contains(S3ObjectLocation object)
        {
            return object.bucket().equals(bucket) && (path.isEmpty() || (file && object.key().equals(path)) || object.key().startsWith(path + "/"));
        }
    }
}
