package io.cachedhive.chaos.query;

import io.cachedhive.chaos.lake.Lake;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.net.URI;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import static java.util.Objects.requireNonNull;

/**
 * The rows that plain Hive returns for queries of tables whose files stay as they are.
 */
public final class Expectations
{
    private final URI coordinator;
    private final Map<String, List<List<Object>>> rows = new ConcurrentHashMap<>();

    public Expectations(URI coordinator)
    {
        this.coordinator = requireNonNull(coordinator, "coordinator is null");
    }

    /** Empty if plain Hive fails. */
    public Optional<List<List<Object>>> of(String sql)
    {
        List<List<Object>> known = rows.get(sql);
        if (known != null) {
            return Optional.of(known);
        }
        try (SqlConnection connection = SqlConnection.open(coordinator, "chaos", Optional.of("hive"), Optional.of(Lake.SCHEMA))) {
            List<List<Object>> result = connection.query(sql).rows();
            rows.put(sql, result);
            return Optional.of(result);
        }
        catch (SQLException _) {
            // a fault that plain Hive does not survive: the query is not run
            return Optional.empty();
        }
    }
}
