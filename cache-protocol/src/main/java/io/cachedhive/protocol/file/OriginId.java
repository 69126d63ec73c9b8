package io.cachedhive.protocol.file;

import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * Identifies an origin by a digest of scheme, endpoint, region and isolation domain. Equal paths on two endpoints are two
 * files, and so are equal paths that are read with the rights of two isolation domains. The plugin computes it from the
 * catalog properties, the cache worker from its file; the handshake compares both.
 */
public record OriginId(Digest128 digest)
{
    public OriginId
    {
        requireNonNull(digest, "digest is null");
    }

    /**
     * Computes the id of an origin without isolation domain.
     */
    public static OriginId of(String scheme, Optional<String> endpoint, Optional<String> region)
    {
        return of(scheme, endpoint, region, IsolationDomain.NONE);
    }

    /**
     * Computes the id of an origin.
     *
     * @param scheme the scheme of the locations; {@code s3a} and {@code s3n} are synonyms of {@code s3}
     * @param endpoint the configured endpoint; empty for the default endpoint of the provider
     * @param region the configured region; empty if none is configured
     * @param domain the rights that the files are read with
     */
    public static OriginId of(String scheme, Optional<String> endpoint, Optional<String> region, IsolationDomain domain)
    {
        List<String> lines = new ArrayList<>();
        lines.add("cachedhive-origin-1");
        lines.add(normalizeScheme(scheme));
        lines.add(endpoint.map(OriginId::normalizeEndpoint).orElse(""));
        lines.add(region.map(value -> value.strip().toLowerCase(Locale.ROOT)).orElse(""));
        if (domain.kind() != IsolationDomain.Kind.NONE) {
            // begins with an upper-case letter, which no region contains, so that no region can imitate a domain
            lines.add(domain.text());
        }
        return new OriginId(Digest128.sha256(ByteBuffer.wrap(String.join("\n", lines).getBytes(UTF_8))));
    }

    /**
     * Returns the scheme in lower case, with {@code s3a} and {@code s3n} replaced by {@code s3}.
     */
    public static String normalizeScheme(String scheme)
    {
        String lower = scheme.strip().toLowerCase(Locale.ROOT);
        return switch (lower) {
            case "s3a", "s3n" -> "s3";
            default -> lower;
        };
    }

    private static String normalizeEndpoint(String endpoint)
    {
        String text = endpoint.strip();
        if (!text.contains("://")) {
            text = "https://" + text;
        }
        URI uri = URI.create(text);
        String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
        String host = uri.getHost() == null ? uri.getAuthority() : uri.getHost();
        if (host == null) {
            throw new IllegalArgumentException("endpoint has no host: " + endpoint);
        }
        int port = uri.getPort();
        if (port == -1) {
            port = scheme.equals("http") ? 80 : 443;
        }
        String path = uri.getRawPath() == null ? "" : uri.getRawPath();
        while (path.endsWith("/")) {
            path = path.substring(0, path.length() - 1);
        }
        return scheme + "://" + host.toLowerCase(Locale.ROOT) + ":" + port + path;
    }

    @Override
    public String toString()
    {
        return digest.toHex();
    }
}
