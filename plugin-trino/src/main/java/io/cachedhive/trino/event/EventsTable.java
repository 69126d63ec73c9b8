package io.cachedhive.trino.event;

import com.google.inject.Inject;
import io.cachedhive.plugin.event.CacheEvent;
import io.cachedhive.plugin.event.CacheEvent.Caller;
import io.cachedhive.plugin.event.CacheEvents;
import io.cachedhive.plugin.event.EventType;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.cachedhive.trino.table.CacheTable;
import io.cachedhive.trino.table.TableNames;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;

import java.util.List;
import java.util.Optional;

import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

/**
 * {@code cache.events}: the changes of the mode, rules, ring, pins and contents of the cache. The calls for a table are shown to users who can select from the table. A flush
 * of a location, or a cancelled preload, may be about any table: the caller and the users of {@code cachedhive.admin-users} see it.
 */
final class EventsTable
        extends CacheTable<CacheEvent>
{
    private final CacheEvents events;
    private final ProcedureGuard guard;

    @Inject
    EventsTable(CacheEvents events, ProcedureGuard guard)
    {
        super(
                "events",
                "The last 1000 changes of each type since the coordinator started, and the last 100 denied calls",
                List.of(
                        Column.of("time", TIMESTAMP_TZ_MILLIS, "Time of the change, or when the call ended", event -> packDateTimeWithZone(event.time().toEpochMilli(), UTC_KEY)),
                        Column.of("type", VARCHAR, "MODE, RULES, RING, FLUSH, PIN, PRELOAD, or OTHER", event -> event.type().name()),
                        Column.ofOptional("user", VARCHAR, "User that called the procedure; NULL for a change by the coordinator", event -> event.caller().map(Caller::user)),
                        Column.ofOptional("query_id", VARCHAR, "Query id of the call; NULL for a change by the coordinator", event -> event.caller().map(Caller::queryId)),
                        Column.of("description", VARCHAR, "The call, or the change", CacheEvent::description),
                        Column.ofOptional("outcome", VARCHAR, "SUCCEEDED, FAILED, or DENIED; NULL for a change by the coordinator",
                                event -> event.caller().map(caller -> caller.outcome().name())),
                        Column.ofOptional("problem", VARCHAR, "Reason why the call did not succeed; NULL if it did", event -> event.caller().flatMap(Caller::reason))));
        this.events = requireNonNull(events, "events is null");
        this.guard = requireNonNull(guard, "guard is null");
    }

    @Override
    protected List<CacheEvent> rows()
    {
        return events.list();
    }

    @Override
    protected Optional<SchemaTableName> tableOf(CacheEvent event)
    {
        return event.table().map(TableNames::toTrino);
    }

    @Override
    protected boolean isVisible(CacheEvent event, ConnectorSession session)
    {
        if (event.caller().isEmpty() || event.table().isPresent() || event.type() == EventType.MODE || event.type() == EventType.RULES) {
            return true;
        }
        return event.caller().get().user().equals(session.getUser()) || guard.isNamedAdmin(session);
    }
}
