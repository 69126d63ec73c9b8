package io.cachedhive.transport.tls;

import java.nio.file.Path;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * A keystore or truststore: a file in PEM, PKCS12 or JKS.
 *
 * @param property the name of the property with the path, for messages
 * @param password of the file, or of the key in a PEM file
 */
public record KeyFile(String property, Path path, Optional<String> password)
{
    public KeyFile
    {
        requireNonNull(property, "property is null");
        requireNonNull(path, "path is null");
        requireNonNull(password, "password is null");
    }

    @Override
    public String toString()
    {
        // without the password
        return "%s=%s".formatted(property, path);
    }
}
