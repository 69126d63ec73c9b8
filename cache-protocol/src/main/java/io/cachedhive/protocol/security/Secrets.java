package io.cachedhive.protocol.security;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The shared secrets that are valid at the moment. During a rotation there are two: the first one is preferred, and
 * the second one is still accepted.
 */
@FunctionalInterface
public interface Secrets
{
    int MAX_VALID = 2;

    Secrets NONE = List::of;

    /**
     * Returns at most {@value MAX_VALID} secrets, the preferred one first; empty if there is no secret. The result may
     * change between two calls.
     */
    List<String> valid();

    /**
     * Returns why the secrets could not be read again and how to fix it, or empty if they are as configured.
     */
    default Optional<String> problem()
    {
        return Optional.empty();
    }

    default boolean isEmpty()
    {
        return valid().isEmpty();
    }

    /**
     * Returns secrets that do not change.
     *
     * @throws IllegalArgumentException if there are more than {@value MAX_VALID}
     */
    static Secrets of(String... secrets)
    {
        List<String> valid = List.of(requireNonNull(secrets, "secrets is null"));
        if (valid.size() > MAX_VALID) {
            throw new IllegalArgumentException("more than %s secrets".formatted(MAX_VALID));
        }
        return () -> valid;
    }
}
