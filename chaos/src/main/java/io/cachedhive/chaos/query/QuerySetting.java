package io.cachedhive.chaos.query;

import io.cachedhive.chaos.lake.Lake;
import io.cachedhive.chaos.schedule.FaultLog;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.net.URI;
import java.sql.SQLException;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * What all clients share.
 */
public record QuerySetting(URI coordinator, Lake lake, FaultLog faults, Tally tally, Expectations expectations, QueryTimeout timeout)
{
    public QuerySetting
    {
        requireNonNull(coordinator, "coordinator is null");
        requireNonNull(lake, "lake is null");
        requireNonNull(faults, "faults is null");
        requireNonNull(tally, "tally is null");
        requireNonNull(expectations, "expectations is null");
        requireNonNull(timeout, "timeout is null");
    }

    SqlConnection connect(String catalog)
            throws SQLException
    {
        return SqlConnection.open(coordinator, "chaos", Optional.of(catalog), Optional.of(Lake.SCHEMA));
    }
}
