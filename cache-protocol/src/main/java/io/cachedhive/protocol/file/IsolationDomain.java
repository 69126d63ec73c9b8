package io.cachedhive.protocol.file;

import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * The rights that the files of an origin are read with. It is a part of {@link OriginId}, so that cached bytes are only
 * shared between readers with the same rights.
 *
 * <p>The plugin computes it from the properties of the catalog, and the cache worker from its origin file. Both have the
 * same names for the credentials of S3.
 */
public record IsolationDomain(Kind kind, String value)
{
    /**
     * Leaves the rights out of the identity: of readers that share their permissions, and of the default credential
     * chain, which has no configured identity.
     */
    public static final IsolationDomain NONE = new IsolationDomain(Kind.NONE, "");

    /**
     * The text of a name, for the configuration of both processes.
     */
    public static final String NAME_PATTERN = "[A-Za-z0-9._-]{1,64}";

    private static final int SHOWN_CHARACTERS = 4;

    public enum Kind
    {
        NONE,
        /**
         * A configured name.
         */
        NAME,
        /**
         * The ARN of an IAM role.
         */
        ROLE,
        /**
         * An access key id. It is no secret, but is only shown in part.
         */
        ACCESS_KEY,
        WEB_IDENTITY,
        ANONYMOUS,
        /**
         * A digest of the credentials of a file system that is not S3.
         */
        CREDENTIALS,
    }

    public IsolationDomain
    {
        requireNonNull(kind, "kind is null");
        requireNonNull(value, "value is null");
    }

    /**
     * Returns the domain of a configured name.
     */
    public static IsolationDomain named(String name)
    {
        return new IsolationDomain(Kind.NAME, name);
    }

    /**
     * Returns the domain of the credentials among the properties of Trino's S3 file system. The role precedes the access
     * key, which then only assumes the role.
     */
    public static IsolationDomain ofS3(Map<String, String> properties)
    {
        String type = value(properties, "s3.auth-type").orElse("DEFAULT").toUpperCase(Locale.ROOT).replace('-', '_');
        if (type.equals("ANONYMOUS")) {
            return new IsolationDomain(Kind.ANONYMOUS, "");
        }
        if (type.equals("WEB_IDENTITY") || value(properties, "s3.use-web-identity-token-credentials-provider").filter("true"::equalsIgnoreCase).isPresent()) {
            return new IsolationDomain(Kind.WEB_IDENTITY, "");
        }
        return value(properties, "s3.iam-role").map(role -> new IsolationDomain(Kind.ROLE, role))
                .or(() -> value(properties, "s3.aws-access-key").map(key -> new IsolationDomain(Kind.ACCESS_KEY, key)))
                .orElse(NONE);
    }

    /**
     * Returns the domain of readers with this domain's credentials and those of another file system.
     *
     * @param credentials the properties that determine whose rights the other file system has; they may contain secrets
     */
    public IsolationDomain with(Map<String, String> credentials)
    {
        if (credentials.isEmpty()) {
            return this;
        }
        StringBuilder text = new StringBuilder(text());
        new TreeMap<>(credentials).forEach((name, value) -> text.append('\n').append(name).append('=').append(value.strip()));
        return new IsolationDomain(Kind.CREDENTIALS, Digest128.sha256(ByteBuffer.wrap(text.toString().getBytes(UTF_8))).toHex());
    }

    private static Optional<String> value(Map<String, String> properties, String name)
    {
        return Optional.ofNullable(properties.get(name)).map(String::strip).filter(value -> !value.isEmpty());
    }

    /**
     * Returns the text that identifies the domain. It may contain an access key id.
     */
    String text()
    {
        return kind + ":" + value;
    }

    /**
     * Describes the domain for messages, without the middle of an access key id.
     */
    public String description()
    {
        return switch (kind) {
            case NONE -> "no isolation domain";
            case NAME -> "isolation domain " + value;
            case ROLE -> "isolation domain of role " + value;
            case ACCESS_KEY -> "isolation domain of access key " + masked(value);
            case WEB_IDENTITY -> "isolation domain of the web identity";
            case ANONYMOUS -> "isolation domain of anonymous access";
            case CREDENTIALS -> "isolation domain of its credentials";
        };
    }

    private static String masked(String key)
    {
        // of a short key, the two ends would be most of it
        if (key.length() < 4 * SHOWN_CHARACTERS) {
            return key.substring(0, Math.min(key.length() / 2, SHOWN_CHARACTERS)) + "***";
        }
        return key.substring(0, SHOWN_CHARACTERS) + "***" + key.substring(key.length() - SHOWN_CHARACTERS);
    }

    @Override
    public String toString()
    {
        return description();
    }
}
