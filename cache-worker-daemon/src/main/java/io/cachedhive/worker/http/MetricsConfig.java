package io.cachedhive.worker.http;

import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.configuration.validation.FileExists;
import jakarta.validation.constraints.NotNull;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Access to the metrics of a cache worker.
 */
public class MetricsConfig
{
    private Authentication authentication = Authentication.NONE;
    private Optional<Path> bearerTokenFile = Optional.empty();

    /**
     * Who may read {@code /metrics}.
     */
    public enum Authentication
    {
        /** Everyone who reaches the port. */
        NONE,
        /** Senders with a proof of the shared secret or the bearer token. */
        REQUIRED
    }

    @NotNull
    public Authentication getAuthentication()
    {
        return authentication;
    }

    @Config("cache.metrics.authentication")
    @ConfigDescription("NONE, or REQUIRED: /metrics needs the bearer token or a proof of the shared secret")
    public MetricsConfig setAuthentication(Authentication authentication)
    {
        this.authentication = authentication;
        return this;
    }

    @NotNull
    public Optional<@FileExists Path> getBearerTokenFile()
    {
        return bearerTokenFile;
    }

    @Config("cache.metrics.bearer-token-file")
    @ConfigDescription("File with the bearer token that opens /metrics if authentication is required")
    public MetricsConfig setBearerTokenFile(Path bearerTokenFile)
    {
        this.bearerTokenFile = Optional.ofNullable(bearerTokenFile);
        return this;
    }
}
