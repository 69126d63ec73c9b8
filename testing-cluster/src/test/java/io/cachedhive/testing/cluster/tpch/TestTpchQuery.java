package io.cachedhive.testing.cluster.tpch;

import io.trino.sql.parser.SqlParser;
import io.trino.sql.tree.Identifier;
import io.trino.sql.tree.Limit;
import io.trino.sql.tree.LongLiteral;
import io.trino.sql.tree.OrderBy;
import io.trino.sql.tree.Query;
import io.trino.sql.tree.QuerySpecification;
import io.trino.sql.tree.SortItem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

final class TestTpchQuery
{
    static List<TpchQuery> queries()
    {
        return TpchQuery.all();
    }

    @Test
    void testThereAre22()
    {
        assertThat(TpchQuery.all()).extracting(TpchQuery::number).containsExactlyElementsOf(IntStream.rangeClosed(1, 22).boxed().toList());
        assertThat(TpchQuery.all()).extracting(TpchQuery::sql).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("queries")
    void testTextParsesAndItsOrderIsDeclared(TpchQuery query)
    {
        assertThat(query.sql()).doesNotContain(";");
        Query parsed = (Query) new SqlParser().createStatement(query.sql());
        // a lone SELECT takes ORDER BY and LIMIT into itself
        QuerySpecification specification = (QuerySpecification) parsed.getQueryBody();
        List<String> orderBy = parsed.getOrderBy().or(specification::getOrderBy)
                .map(OrderBy::getSortItems)
                .orElse(List.of()).stream()
                .map(SortItem::getSortKey)
                .map(key -> ((Identifier) key).getValue())
                .toList();
        assertThat(query.orderBy()).isEqualTo(orderBy);

        Optional<Limit> limit = parsed.getLimit().or(specification::getLimit).map(Limit.class::cast);
        assertThat(query.limit()).isEqualTo(limit.isEmpty() ? OptionalInt.empty() : OptionalInt.of((int) ((LongLiteral) limit.get().getRowCount()).getParsedValue()));
    }
}
