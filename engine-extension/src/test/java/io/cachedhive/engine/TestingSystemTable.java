package io.cachedhive.engine;

import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.InMemoryRecordSet;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.predicate.TupleDomain;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/** A connector's system table in the schema {@code cache}, with the given columns and rows, that counts how often it is read. */
final class TestingSystemTable
        implements SystemTable
{
    private final ConnectorTableMetadata metadata;
    private final Supplier<List<Object[]>> rows;
    private final AtomicInteger reads = new AtomicInteger();

    TestingSystemTable(String name, List<ColumnMetadata> columns, Supplier<List<Object[]>> rows)
    {
        this.metadata = new ConnectorTableMetadata(new SchemaTableName("cache", name), columns);
        this.rows = requireNonNull(rows, "rows is null");
    }

    int reads()
    {
        return reads.get();
    }

    @Override
    public Distribution getDistribution()
    {
        return Distribution.SINGLE_COORDINATOR;
    }

    @Override
    public ConnectorTableMetadata getTableMetadata()
    {
        return metadata;
    }

    @Override
    public RecordCursor cursor(ConnectorTransactionHandle transactionHandle, ConnectorSession session, TupleDomain<Integer> constraint)
    {
        reads.incrementAndGet();
        InMemoryRecordSet.Builder builder = InMemoryRecordSet.builder(metadata);
        rows.get().forEach(builder::addRow);
        return builder.build().cursor();
    }
}
