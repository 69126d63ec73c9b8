package io.cachedhive.plugin.event;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.plugin.audit.AuditLine;
import io.cachedhive.plugin.audit.AuditLine.Outcome;
import io.cachedhive.plugin.event.CacheEvent.Caller;
import io.cachedhive.plugin.table.TableName;

import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.util.Comparator.comparingLong;
import static java.util.Objects.requireNonNull;

/**
 * Keeps the last events of a catalog in memory, until the coordinator restarts. The logs have them for longer.
 *
 * <p>Each type of events has its own limit, and denied calls have another one, so that many events of one kind do not remove the others.
 */
public final class CacheEvents
{
    static final int MAX_EVENTS_OF_TYPE = 1000;
    static final int MAX_DENIED = 100;
    private static final int MAX_NAME_LENGTH = 256;

    private final InstantSource clock;
    @GuardedBy("this")
    private final Map<EventType, Deque<Numbered>> events = new EnumMap<>(EventType.class);
    @GuardedBy("this")
    private final Deque<Numbered> denied = new ArrayDeque<>();
    @GuardedBy("this")
    private long count;

    private record Numbered(long number, CacheEvent event) {}

    public CacheEvents(InstantSource clock)
    {
        this.clock = requireNonNull(clock, "clock is null");
    }

    /**
     * Adds a change that the coordinator made.
     */
    public synchronized void add(EventType type, String description)
    {
        add(new CacheEvent(clock.instant(), type, Optional.empty(), description, Optional.empty()));
    }

    /**
     * Adds a change that the coordinator made, about a table. Only users who can select from the table see it.
     */
    public synchronized void add(EventType type, String description, TableName table)
    {
        add(new CacheEvent(clock.instant(), type, Optional.empty(), description, Optional.of(table)));
    }

    /**
     * Adds a call of a procedure.
     *
     * @param procedure the name of the procedure without catalog and schema
     */
    public synchronized void add(String procedure, AuditLine call)
    {
        CacheEvent event = new CacheEvent(
                clock.instant(),
                EventType.ofProcedure(procedure),
                Optional.of(new Caller(call.user(), call.queryId(), call.outcome(), call.reasonText())),
                call.statement(),
                table(call.arguments()));
        if (call.outcome() == Outcome.DENIED) {
            add(denied, event, MAX_DENIED);
        }
        else {
            add(event);
        }
    }

    /**
     * Returns the table that a procedure was called for. The caller may have passed names that no table can have.
     */
    private static Optional<TableName> table(Map<String, Object> arguments)
    {
        if (arguments.get("schema_name") instanceof String schema && arguments.get("table_name") instanceof String table && isName(schema) && isName(table)) {
            return Optional.of(new TableName(schema, table));
        }
        return Optional.empty();
    }

    private static boolean isName(String text)
    {
        return !text.isEmpty() && text.length() <= MAX_NAME_LENGTH;
    }

    @GuardedBy("this")
    private void add(CacheEvent event)
    {
        add(events.computeIfAbsent(event.type(), _ -> new ArrayDeque<>()), event, MAX_EVENTS_OF_TYPE);
    }

    @GuardedBy("this")
    private void add(Deque<Numbered> queue, CacheEvent event, int limit)
    {
        queue.addLast(new Numbered(count, event));
        count++;
        if (queue.size() > limit) {
            queue.removeFirst();
        }
    }

    /**
     * Returns the events, the oldest first.
     */
    public synchronized List<CacheEvent> list()
    {
        return Stream.concat(events.values().stream(), Stream.of(denied))
                .flatMap(Collection::stream)
                .sorted(comparingLong(Numbered::number))
                .map(Numbered::event)
                .collect(toImmutableList());
    }
}
