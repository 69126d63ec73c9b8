package io.cachedhive.plugin.event;

import io.cachedhive.plugin.audit.AuditLine.Outcome;
import io.cachedhive.plugin.table.TableName;

import java.time.Instant;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * A change of the cache that an administrator or the coordinator made.
 *
 * @param caller the caller of a procedure; empty for a change by the coordinator
 * @param description the call of the procedure, or the change
 * @param table the table that a procedure was called for
 */
public record CacheEvent(Instant time, EventType type, Optional<Caller> caller, String description, Optional<TableName> table)
{
    /**
     * A call of a procedure.
     *
     * @param reason why the call did not succeed
     */
    public record Caller(String user, String queryId, Outcome outcome, Optional<String> reason)
    {
        public Caller
        {
            requireNonNull(user, "user is null");
            requireNonNull(queryId, "queryId is null");
            requireNonNull(outcome, "outcome is null");
            requireNonNull(reason, "reason is null");
        }
    }

    public CacheEvent
    {
        requireNonNull(time, "time is null");
        requireNonNull(type, "type is null");
        requireNonNull(caller, "caller is null");
        requireNonNull(description, "description is null");
        requireNonNull(table, "table is null");
    }
}
