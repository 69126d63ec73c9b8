package io.cachedhive.worker.origin;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.cachedhive.protocol.file.IsolationDomain;
import jakarta.validation.constraints.AssertFalse;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;

import java.util.List;
import java.util.Optional;

import static com.google.common.base.Strings.nullToEmpty;

/**
 * Who may read the blocks of an origin, and which files the worker may read from it.
 */
public class OriginAccessConfig
{
    private Optional<String> isolationDomain = Optional.empty();
    private boolean sharedPermissions;
    private List<String> allowedLocations = ImmutableList.of();

    @NotNull
    public Optional<@Pattern(regexp = IsolationDomain.NAME_PATTERN, message = "must be 1 to 64 letters, digits, '-', '_', '.'") String> getIsolationDomain()
    {
        return isolationDomain;
    }

    @Config("isolation-domain")
    @ConfigDescription("Name of the isolation domain, as in cachedhive.isolation-domain of the catalogs; by default the access key id or the IAM role")
    public OriginAccessConfig setIsolationDomain(String isolationDomain)
    {
        this.isolationDomain = Optional.ofNullable(isolationDomain);
        return this;
    }

    public boolean isSharedPermissions()
    {
        return sharedPermissions;
    }

    @Config("shared-permissions")
    @ConfigDescription("Leave the isolation domain out of the identity of the origin, as cachedhive.shared-permissions of the catalogs does")
    public OriginAccessConfig setSharedPermissions(boolean sharedPermissions)
    {
        this.sharedPermissions = sharedPermissions;
        return this;
    }

    @AssertFalse(message = "isolation-domain and shared-permissions=true contradict each other, remove one of them")
    public boolean isDomainContradictory()
    {
        return sharedPermissions && isolationDomain.isPresent();
    }

    @NotNull
    public List<String> getAllowedLocations()
    {
        return allowedLocations;
    }

    @Config("allowed-locations")
    @ConfigDescription("Buckets and prefixes that the cache worker may read from this origin, such as s3://bucket/prefix/; all if not set")
    public OriginAccessConfig setAllowedLocations(String allowedLocations)
    {
        this.allowedLocations = ImmutableList.copyOf(Splitter.on(',').omitEmptyStrings().trimResults().split(nullToEmpty(allowedLocations)));
        return this;
    }
}
