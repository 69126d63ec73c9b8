package io.cachedhive.protocol.security;

import io.cachedhive.protocol.security.SecretFile.InvalidSecretException;

import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * The rules for the secret that cache workers and Trino servers share.
 */
public final class SharedSecret
{
    public static final int MIN_CHARACTERS = 32;

    /**
     * How to obtain a secret that the rules accept, for error messages.
     */
    public static final String REMEDY = "generate one with: openssl rand -base64 48";

    private static final int MIN_DISTINCT_CHARACTERS = 8;

    // values that stood in examples of cachedhive and Trino, or that people type to get past the rule
    private static final Set<String> SAMPLES = Set.of(
            "replace-with-a-secret-of-your-own",
            "replace-with-the-output-of-openssl-rand-base64-48",
            "internal-shared-secret",
            "internal-communication-shared-secret",
            "0123456789abcdef0123456789abcdef",
            "abcdefghijklmnopqrstuvwxyz012345",
            "abcdefghijklmnopqrstuvwxyz123456",
            "changemechangemechangemechangeme",
            "change-me-change-me-change-me-change-me",
            "secretsecretsecretsecretsecretsecret",
            "passwordpasswordpasswordpassword");

    private SharedSecret() {}

    /**
     * Returns the secrets that a configuration names.
     *
     * @param property the name of the property with the secret; the property with the file has the suffix {@code -file}
     * @param secret the secret
     * @param file the file with the secret
     * @throws InvalidSecretException if both are set, or the secret is refused. The message is a sentence for the operator
     */
    public static Secrets configured(String property, Optional<String> secret, Optional<Path> file)
            throws InvalidSecretException
    {
        if (secret.isPresent() && file.isPresent()) {
            throw new InvalidSecretException("%s and %s-file are both set: remove one of them".formatted(property, property));
        }
        if (file.isPresent()) {
            return SecretFile.open(file.get());
        }
        if (secret.isEmpty()) {
            return Secrets.NONE;
        }
        Optional<String> problem = problem(secret.get());
        if (problem.isPresent()) {
            throw new InvalidSecretException("%s %s".formatted(property, problem.get()));
        }
        return Secrets.of(secret.get());
    }

    /**
     * Checks a secret against the rules: at least {@value MIN_CHARACTERS} characters, at least eight different ones,
     * no blanks at its ends, and no sample from a page.
     *
     * @return why the secret is refused, as the end of a sentence that names the property; empty if it is accepted
     */
    public static Optional<String> problem(String secret)
    {
        if (!secret.equals(secret.strip())) {
            return Optional.of("begins or ends with white space");
        }
        if (secret.length() < MIN_CHARACTERS) {
            return Optional.of("has %s characters, at least %s are required: %s".formatted(secret.length(), MIN_CHARACTERS, REMEDY));
        }
        if (SAMPLES.contains(secret)) {
            return Optional.of("is a sample from the documentation, which everyone knows: " + REMEDY);
        }
        if (secret.chars().distinct().count() < MIN_DISTINCT_CHARACTERS) {
            return Optional.of("has fewer than %s different characters and can be guessed: %s".formatted(MIN_DISTINCT_CHARACTERS, REMEDY));
        }
        return Optional.empty();
    }
}
