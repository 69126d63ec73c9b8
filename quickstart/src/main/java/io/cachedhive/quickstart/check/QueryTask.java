package io.cachedhive.quickstart.check;

import io.cachedhive.testing.cluster.tpch.TpchQuery;
import io.cachedhive.testing.cluster.tpch.TpchTables;

import java.util.ArrayList;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * A query over the tables of one schema.
 */
public record QueryTask(TpchTables.Schema schema, TpchQuery query)
{
    public QueryTask
    {
        requireNonNull(schema, "schema is null");
        requireNonNull(query, "query is null");
    }

    public static List<QueryTask> of(TpchTables.Schema schema, int... numbers)
    {
        List<QueryTask> tasks = new ArrayList<>();
        for (int number : numbers) {
            tasks.add(new QueryTask(schema, TpchQuery.load(number)));
        }
        return tasks;
    }

    /// Such as `tpch_orc q01`.
    public String name()
    {
        return schema.schemaName() + " " + query.name();
    }
}
