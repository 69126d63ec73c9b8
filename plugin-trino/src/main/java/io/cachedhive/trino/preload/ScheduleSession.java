package io.cachedhive.trino.preload;

import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.security.ConnectorIdentity;
import io.trino.spi.session.PropertyMetadata;
import io.trino.spi.type.TimeZoneKey;

import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Objects.requireNonNull;

/**
 * The session of a run that a schedule begins: there is no query. All session properties have the values that the catalog file gives them.
 *
 * @param queryId names the run in the logs of the metastore
 */
public record ScheduleSession(String queryId, ConnectorIdentity identity, Instant start, Map<String, PropertyMetadata<?>> properties)
        implements ConnectorSession
{
    public ScheduleSession
    {
        requireNonNull(queryId, "queryId is null");
        requireNonNull(identity, "identity is null");
        requireNonNull(start, "start is null");
        properties = Map.copyOf(properties);
    }

    @Override
    public String getQueryId()
    {
        return queryId;
    }

    @Override
    public Optional<String> getSource()
    {
        return Optional.of("cachedhive-schedule");
    }

    @Override
    public ConnectorIdentity getIdentity()
    {
        return identity;
    }

    @Override
    public TimeZoneKey getTimeZoneKey()
    {
        return TimeZoneKey.UTC_KEY;
    }

    @Override
    public Locale getLocale()
    {
        return Locale.ENGLISH;
    }

    @Override
    public Optional<String> getTraceToken()
    {
        return Optional.empty();
    }

    @Override
    public Instant getStart()
    {
        return start;
    }

    @Override
    public <T> T getProperty(String name, Class<T> type)
    {
        PropertyMetadata<?> property = properties.get(name);
        checkArgument(property != null, "the catalog has no session property %s", name);
        return type.cast(property.getDefaultValue());
    }
}
