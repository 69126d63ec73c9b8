package io.cachedhive.plugin.event;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.plugin.audit.AuditLine;
import io.cachedhive.plugin.event.CacheEvent.Caller;
import io.cachedhive.plugin.table.TableName;

import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Keeps the last events of a catalog in memory, until the coordinator restarts. The logs have them for longer.
 */
public final class CacheEvents
{
    static final int MAX_EVENTS = 1000;

    private final InstantSource clock;
    @GuardedBy("this")
    private final Deque<CacheEvent> events = new ArrayDeque<>();

    public CacheEvents(InstantSource clock)
    {
        this.clock = requireNonNull(clock, "clock is null");
    }

    /**
     * Adds a change that the coordinator made.
     */
    public void add(EventType type, String description)
    {
        add(new CacheEvent(clock.instant(), type, Optional.empty(), description, Optional.empty()));
    }

    /**
     * Adds a call of a procedure.
     *
     * @param procedure the name of the procedure without catalog and schema
     */
    public void add(String procedure, AuditLine call)
    {
        add(new CacheEvent(
                clock.instant(),
                EventType.ofProcedure(procedure),
                Optional.of(new Caller(call.user(), call.queryId(), call.outcome(), call.reasonText())),
                call.statement(),
                table(call.arguments())));
    }

    private static Optional<TableName> table(Map<String, Object> arguments)
    {
        if (arguments.get("schema_name") instanceof String schema && arguments.get("table_name") instanceof String table) {
            return Optional.of(new TableName(schema, table));
        }
        return Optional.empty();
    }

    private synchronized void add(CacheEvent event)
    {
        events.addLast(event);
        if (events.size() > MAX_EVENTS) {
            events.removeFirst();
        }
    }

    /**
     * Returns the events, the oldest first.
     */
    public synchronized List<CacheEvent> list()
    {
        return ImmutableList.copyOf(events);
    }
}
