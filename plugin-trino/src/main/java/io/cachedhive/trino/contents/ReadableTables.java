package io.cachedhive.trino.contents;

import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.security.AccessDeniedException;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * Which tables a user may read, asked once for each table of a query. Whoever may read nothing of a table does not see what is cached of it.
 */
public final class ReadableTables
{
    private static final int MAX_REMEMBERED = 10_000;

    private final ConnectorAccessControl accessControl;
    private final Map<String, Boolean> known = new HashMap<>();

    public ReadableTables(ConnectorAccessControl accessControl)
    {
        this.accessControl = requireNonNull(accessControl, "accessControl is null");
    }

    /**
     * @param name {@code schema.table}; what is no such name is readable for nobody
     */
    public boolean mayRead(String name)
    {
        Boolean answer = known.get(name);
        if (answer == null) {
            answer = parse(name).filter(this::ask).isPresent();
            if (known.size() < MAX_REMEMBERED) {
                known.put(name, answer);
            }
        }
        return answer;
    }

    public boolean mayRead(SchemaTableName table)
    {
        return mayRead(table.toString());
    }

    static Optional<SchemaTableName> parse(String name)
    {
        int dot = name.indexOf('.');
        return dot <= 0 || dot == name.length() - 1 ? Optional.empty() : Optional.of(new SchemaTableName(name.substring(0, dot), name.substring(dot + 1)));
    }

    private boolean ask(SchemaTableName table)
    {
        if (accessControl.filterTables(null, Set.of(table)).isEmpty()) {
            return false;
        }
        try {
            // some column, as for count(*)
            accessControl.checkCanSelectFromColumns(null, table, Optional.empty(), Set.of());
            return true;
        }
        catch (AccessDeniedException _) {
            return false;
        }
    }
}
