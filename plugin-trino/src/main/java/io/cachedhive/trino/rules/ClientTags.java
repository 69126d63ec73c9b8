package io.cachedhive.trino.rules;

import com.google.common.collect.ImmutableSet;
import io.airlift.log.Logger;
import io.trino.spi.connector.ConnectorSession;

import java.util.Collection;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The client tags of a query. Trino tells its connectors everything of a session but these, so they are asked of the engine's own session behind it.
 */
final class ClientTags
{
    private static final Logger log = Logger.get(ClientTags.class);

    private static final AtomicBoolean warned = new AtomicBoolean();

    private ClientTags() {}

    /**
     * Empty also for a session that is not the engine's.
     */
    static Set<String> of(ConnectorSession session)
    {
        try {
            Object engineSession = session.getClass().getMethod("getSession").invoke(session);
            Object tags = engineSession.getClass().getMethod("getClientTags").invoke(engineSession);
            return ((Collection<?>) tags).stream().map(String.class::cast).collect(ImmutableSet.toImmutableSet());
        }
        catch (ReflectiveOperationException | ClassCastException e) {
            if (warned.compareAndSet(false, true)) {
                log.warn("client tags of queries cannot be seen, so rules with clientTags match nothing: sessions are of %s (%s)", session.getClass().getName(), e);
            }
            return ImmutableSet.of();
        }
    }
}
