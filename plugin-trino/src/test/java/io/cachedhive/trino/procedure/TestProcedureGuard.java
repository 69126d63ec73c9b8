package io.cachedhive.trino.procedure;

import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.event.CacheEvents;
import io.trino.spi.TrinoException;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;
import io.trino.spi.security.AccessDeniedException;
import io.trino.spi.security.ConnectorIdentity;
import io.trino.testing.TestingConnectorSession;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import static io.trino.spi.StandardErrorCode.PROCEDURE_CALL_FAILED;
import static io.trino.spi.type.BooleanType.BOOLEAN;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.lang.invoke.MethodHandles.lookup;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestProcedureGuard
{
    // the log manager holds loggers weakly
    private static final Logger AUDIT = Logger.getLogger("io.cachedhive.audit");

    private final List<LogRecord> records = new ArrayList<>();
    private final Handler handler = new Handler()
    {
        @Override
        public void publish(LogRecord record)
        {
            records.add(record);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private final CacheEvents events = new CacheEvents(InstantSource.system());
    private final List<String> calls = new ArrayList<>();
    private final Map<String, String> usersByQuery = new HashMap<>();

    @BeforeEach
    void listen()
    {
        AUDIT.addHandler(handler);
    }

    @AfterEach
    void stopListening()
    {
        AUDIT.removeHandler(handler);
    }

    public void call(ConnectorSession session, ConnectorAccessControl accessControl, String location, boolean wait)
    {
        calls.add("%s %s".formatted(location, wait));
        if ("broken".equals(location)) {
            throw new TrinoException(PROCEDURE_CALL_FAILED, "it is\nbroken");
        }
        if ("hidden".equals(location)) {
            throw new AccessDeniedException("Cannot select from it");
        }
    }

    @Test
    void testWithoutAdminUsers()
            throws Throwable
    {
        Procedure procedure = guard(null).restrict(procedure());
        run(procedure, "alice", Set.of(), "s3://lake/t/", true);
        run(procedure, "bob", Set.of(), null, false);

        assertThat(calls).containsExactly("s3://lake/t/ true", "null false");
        assertThat(lines()).containsExactly(
                "user='alice' query=q_alice procedure=lake.system.test arguments=(location => 's3://lake/t/', wait => true) outcome=SUCCEEDED",
                "user='bob' query=q_bob procedure=lake.system.test arguments=(wait => false) outcome=SUCCEEDED");
        assertThat(records).allMatch(line -> line.getLevel().equals(Level.INFO));
        assertThat(events.list()).extracting(event -> "%s %s %s".formatted(event.caller().orElseThrow().user(), event.description(), event.caller().orElseThrow().outcome()))
                .containsExactly(
                        "alice CALL lake.system.test(location => 's3://lake/t/', wait => true) SUCCEEDED",
                        "bob CALL lake.system.test(wait => false) SUCCEEDED");
    }

    @Test
    void testFailuresAreLoggedOnce()
    {
        Procedure procedure = guard(null).audit(procedure());
        assertThatThrownBy(() -> run(procedure, "alice", Set.of(), "broken", true)).isInstanceOf(TrinoException.class).hasMessage("it is\nbroken");
        assertThatThrownBy(() -> run(procedure, "alice", Set.of(), "hidden", true)).isInstanceOf(AccessDeniedException.class);

        assertThat(lines()).containsExactly(
                "user='alice' query=q_alice procedure=lake.system.test arguments=(location => 'broken', wait => true) outcome=FAILED reason='it is\\u000Abroken'",
                "user='alice' query=q_alice procedure=lake.system.test arguments=(location => 'hidden', wait => true) outcome=DENIED "
                        + "reason='Access Denied: Cannot select from it'");
    }

    @Test
    void testAdminUsers()
            throws Throwable
    {
        ProcedureGuard guard = guard("alice, group:operators");
        Procedure procedure = guard.restrict(procedure());
        run(procedure, "alice", Set.of(), "a", true);
        run(procedure, "carol", Set.of("operators"), "b", true);
        String denial = "Access Denied: User bob cannot call lake.system.test: add the user or a group of the user to cachedhive.admin-users of catalog lake";
        assertThatThrownBy(() -> run(procedure, "bob", Set.of("readers"), "c", true)).isInstanceOf(AccessDeniedException.class).hasMessage(denial);

        assertThat(calls).containsExactly("a true", "b true");
        assertThat(lines()).hasSize(3)
                .last().isEqualTo("user='bob' query=q_bob procedure=lake.system.test arguments=(location => 'c', wait => true) outcome=DENIED reason='" + denial + "'");

        run(guard.audit(procedure()), "bob", Set.of(), "open to all", true);
        assertThat(calls).last().isEqualTo("open to all true");
    }

    @Test
    void testSignatureIsKept()
            throws Exception
    {
        Procedure original = procedure();
        Procedure guarded = guard(null).restrict(original);
        assertThat(guarded.getMethodHandle().type()).isEqualTo(original.getMethodHandle().type());
        assertThat(guarded.getArguments()).isEqualTo(original.getArguments());
        assertThat(guarded.requiresNamedArguments()).isTrue();
        assertThatThrownBy(() -> guard(null).audit(new Procedure("system", "bare", List.of(), lookup().unreflect(Object.class.getMethod("notify")).bindTo(this))))
                .hasMessage("procedure bare has no session");
    }

    private Procedure procedure()
    {
        try {
            return new Procedure(
                    "system",
                    "test",
                    List.of(new Argument("LOCATION", VARCHAR), new Argument("WAIT", BOOLEAN)),
                    lookup().unreflect(TestProcedureGuard.class.getMethod("call", ConnectorSession.class, ConnectorAccessControl.class, String.class, boolean.class)).bindTo(this),
                    true);
        }
        catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private ProcedureGuard guard(String adminUsers)
    {
        return new ProcedureGuard(new CatalogName("lake"), new CachedHiveConfig().setAdminUsers(adminUsers), events);
    }

    private void run(Procedure procedure, String user, Set<String> groups, Object... arguments)
            throws Throwable
    {
        ConnectorSession session = TestingConnectorSession.builder()
                .setIdentity(ConnectorIdentity.forUser(user).withGroups(groups).build())
                .build();
        usersByQuery.put(session.getQueryId(), user);
        List<Object> all = new ArrayList<>(Arrays.asList(session, null));
        all.addAll(Arrays.asList(arguments));
        procedure.getMethodHandle().invokeWithArguments(all);
    }

    private List<String> lines()
    {
        return records.stream().map(line -> {
            String message = line.getMessage();
            for (Map.Entry<String, String> query : usersByQuery.entrySet()) {
                message = message.replace(query.getKey(), "q_" + query.getValue());
            }
            return message;
        }).toList();
    }
}
