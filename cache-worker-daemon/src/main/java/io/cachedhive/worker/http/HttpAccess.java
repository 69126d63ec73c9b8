package io.cachedhive.worker.http;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Access control of the HTTP API.
 *
 * @param secret the secret that callers must prove to know; empty if the API listens on a loopback address
 */
public record HttpAccess(Optional<String> secret)
{
    public HttpAccess
    {
        requireNonNull(secret, "secret is null");
    }
}
