package io.cachedhive.worker.http;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * @param secret that callers of the HTTP API must prove to know; empty if the API is on a loopback address
 */
public record HttpAccess(Optional<String> secret)
{
    public HttpAccess
    {
        requireNonNull(secret, "secret is null");
    }
}
