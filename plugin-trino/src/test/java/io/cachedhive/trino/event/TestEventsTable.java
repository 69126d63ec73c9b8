package io.cachedhive.trino.event;

import io.cachedhive.plugin.audit.AuditLine;
import io.cachedhive.plugin.audit.AuditLine.Outcome;
import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.event.CacheEvents;
import io.cachedhive.plugin.event.EventType;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSecurityContext;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.predicate.TupleDomain;
import io.trino.spi.security.AccessDeniedException;
import io.trino.spi.security.ConnectorIdentity;
import io.trino.testing.TestingConnectorSession;
import org.junit.jupiter.api.Test;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class TestEventsTable
{
    private static final int DESCRIPTION = 4;
    private static final int PROBLEM = 6;

    private final CacheEvents events = new CacheEvents(InstantSource.system());

    private void call(String user, String procedure, Map<String, Object> arguments, Optional<String> reason)
    {
        events.add(procedure, new AuditLine(user, "q", procedure, arguments, reason.isPresent() ? Outcome.DENIED : Outcome.SUCCEEDED, reason));
    }

    private List<String> shown(String adminUsers, String user, int column)
    {
        EventsTable table = new EventsTable(events, new ProcedureGuard(new CatalogName("lake"), new CachedHiveConfig().setAdminUsers(adminUsers), events));
        ConnectorSession session = TestingConnectorSession.builder().setIdentity(ConnectorIdentity.ofUser(user)).build();
        List<String> shown = new ArrayList<>();
        try (RecordCursor cursor = table.cursor(null, session, TupleDomain.all(), Set.of(), null, new AllButHidden())) {
            while (cursor.advanceNextPosition()) {
                shown.add(cursor.isNull(column) ? null : cursor.getSlice(column).toStringUtf8());
            }
        }
        return shown;
    }

    @Test
    void testRights()
    {
        events.add(EventType.RING, "ring");
        call("alice", "set_cache_mode", Map.of("mode", "OFF"), Optional.empty());
        call("alice", "flush_data_cache", Map.of("schema_name", "s", "table_name", "t"), Optional.empty());
        call("alice", "flush_data_cache", Map.of("schema_name", "s", "table_name", "hidden"), Optional.empty());
        call("alice", "flush_location", Map.of("location", "s3://lake/hidden/"), Optional.empty());
        call("alice", "cancel_preload", Map.of("job", "j"), Optional.of("Cannot select from table s.hidden"));

        List<String> open = List.of("ring", "CALL set_cache_mode(mode => 'OFF')");
        assertThat(shown(null, "bob", DESCRIPTION)).startsWith(open.toArray(String[]::new)).hasSize(3).noneMatch(text -> text.contains("hidden"));
        assertThat(shown(null, "bob", PROBLEM)).containsOnlyNulls();
        assertThat(shown("carol", "bob", DESCRIPTION)).hasSize(3);
        assertThat(shown("carol", "carol", DESCRIPTION)).as("an administrator, without the right to select from the table")
                .hasSize(5)
                .contains("CALL flush_location(location => 's3://lake/hidden/')", "CALL cancel_preload(job => 'j')");
        assertThat(shown(null, "alice", DESCRIPTION)).hasSize(5);
        assertThat(shown(null, "alice", PROBLEM)).contains("Cannot select from table s.hidden");
    }

    @Test
    void testTextsAreBoundedAndWithoutPasswords()
    {
        call("alice", "set_cache_mode", Map.of("mode", "s3://key:secret@lake/"), Optional.of("s3://key:secret@lake/ is wrong\n" + "x".repeat(10_000)));
        assertThat(shown(null, "alice", DESCRIPTION)).containsExactly("CALL set_cache_mode(mode => 's3://key:***@lake/')");
        assertThat(shown(null, "alice", PROBLEM)).singleElement().asString()
                .startsWith("s3://key:***@lake/ is wrong\\u000Axxx")
                .hasSizeLessThan(3000);
    }

    /**
     * A caller may pass any text as a name.
     */
    @Test
    void testNamesThatNoTableCanHave()
    {
        call("alice", "flush_data_cache", Map.of("schema_name", "", "table_name", "t"), Optional.of("wrong"));
        call("alice", "flush_data_cache", Map.of("schema_name", "s", "table_name", "t".repeat(100_000)), Optional.of("wrong"));
        assertThat(shown(null, "alice", DESCRIPTION)).hasSize(2);
        assertThat(shown(null, "bob", DESCRIPTION)).isEmpty();
        assertThat(events.list()).allMatch(event -> event.table().isEmpty());
    }

    @Test
    void testOldEventsAreForgotten()
    {
        call("alice", "set_cache_mode", Map.of("mode", "OFF"), Optional.empty());
        for (int i = 0; i < 1500; i++) {
            events.add(EventType.RING, "ring " + i);
            call("alice", "set_cache_mode", Map.of("mode", "ON"), Optional.of("denied"));
        }
        assertThat(shown(null, "alice", DESCRIPTION))
                .hasSize(1101)
                .startsWith("CALL set_cache_mode(mode => 'OFF')", "ring 500")
                .endsWith("CALL set_cache_mode(mode => 'ON')");
    }

    private static final class AllButHidden
            implements ConnectorAccessControl
    {
        @Override
        public void checkCanSelectFromColumns(ConnectorSecurityContext context, SchemaTableName table, Optional<String> branch, Set<String> columns)
        {
            if (table.getTableName().equals("hidden")) {
                throw new AccessDeniedException("hidden");
            }
        }
    }
}
