package io.cachedhive.testing.cluster.tpch;

import com.google.common.base.Splitter;
import com.google.common.io.Resources;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * One of the 22 queries of the TPC-H specification, with its validation parameters for scale 1, over tables with the specification's column names.
 *
 * @param number 1 to 22
 * @param sql without catalog and schema, without semicolon
 * @param orderBy the result's columns that the query orders by, in that order; empty if it does not order
 * @param limit of the query, empty if it has none
 */
public record TpchQuery(int number, String sql, List<String> orderBy, OptionalInt limit)
{
    public static final int COUNT = 22;

    public TpchQuery
    {
        requireNonNull(sql, "sql is null");
        orderBy = List.copyOf(orderBy);
        requireNonNull(limit, "limit is null");
    }

    /// `q01` to `q22`.
    public String name()
    {
        return "q%02d".formatted(number);
    }

    /// All 22, by number.
    public static List<TpchQuery> all()
    {
        return IntStream.rangeClosed(1, COUNT).mapToObj(TpchQuery::load).toList();
    }

    /// The query of that number.
    public static TpchQuery load(int number)
    {
        String text;
        try {
            text = Resources.toString(Resources.getResource("tpch/q%02d.sql".formatted(number)), UTF_8);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        // what a comparison of results must know stands in comments above the query
        List<String> orderBy = new ArrayList<>();
        OptionalInt limit = OptionalInt.empty();
        StringBuilder sql = new StringBuilder();
        for (String line : Splitter.on('\n').split(text)) {
            if (line.startsWith("-- order by: ")) {
                orderBy.addAll(Splitter.on(", ").splitToList(line.substring("-- order by: ".length())));
            }
            else if (line.startsWith("-- limit: ")) {
                limit = OptionalInt.of(Integer.parseInt(line.substring("-- limit: ".length())));
            }
            else {
                sql.append(line).append('\n');
            }
        }
        return new TpchQuery(number, sql.toString().strip(), orderBy, limit);
    }
}
