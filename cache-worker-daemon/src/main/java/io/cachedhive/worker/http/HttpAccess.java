package io.cachedhive.worker.http;

import io.cachedhive.protocol.security.HttpChallenges;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.worker.http.MetricsConfig.Authentication;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Access control of the HTTP API.
 *
 * @param secrets the secrets of which callers must prove one; empty if the cache worker has none
 * @param challenges the nonces of this process
 * @param metricsAuthentication whether {@code /metrics} is open
 * @param metricsToken the bearer token that opens {@code /metrics} only
 */
public record HttpAccess(Secrets secrets, HttpChallenges challenges, Authentication metricsAuthentication, Optional<MetricsToken> metricsToken)
{
    public HttpAccess
    {
        requireNonNull(secrets, "secrets is null");
        requireNonNull(challenges, "challenges is null");
        requireNonNull(metricsAuthentication, "metricsAuthentication is null");
        requireNonNull(metricsToken, "metricsToken is null");
    }

    boolean isMetricsToken(String token)
    {
        return metricsToken.isPresent() && metricsToken.get().accepts(token);
    }
}
