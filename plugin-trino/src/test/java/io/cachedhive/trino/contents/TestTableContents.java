package io.cachedhive.trino.contents;

import io.cachedhive.plugin.config.PricesConfig;
import io.cachedhive.protocol.wire.CounterNames;
import io.trino.spi.connector.SchemaTableName;
import org.junit.jupiter.api.Test;

import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class TestTableContents
{
    @Test
    void testPartition()
    {
        assertThat(TablesTable.partition("s3://lake/s.db/t/day=2024-01-01/hour=7/file")).contains("day=2024-01-01/hour=7");
        assertThat(TablesTable.partition("s3://lake/s.db/t/day=1/file=1")).contains("day=1");
        assertThat(TablesTable.partition("s3://lake/a=b/t/day=1/x/file")).isEmpty();
        assertThat(TablesTable.partition("s3://lake/s.db/t/file")).isEmpty();
        assertThat(TablesTable.partition("s3://lake/s.db/t/=x/file")).isEmpty();
        assertThat(TablesTable.partition("s3://lake/s.db/t/url=a%2Fb=c/file")).contains("url=a%2Fb=c");
        assertThat(TablesTable.partition("file")).isEmpty();
    }

    @Test
    void testSavings()
    {
        PricesConfig prices = new PricesConfig().setPricePerThousandRequests(0.4).setPricePerGigabyte(0.1).setCrossZonePricePerGigabyte(0.02);
        TableContents table = new TableContents(new SchemaTableName("s", "t"), Optional.empty(), 1, 2, Optional.of(Map.of(
                CounterNames.RAM_HIT_REQUESTS, 1000L,
                CounterNames.SSD_HIT_REQUESTS, 500L,
                CounterNames.NON_LOCAL_HIT_REQUESTS, 500L,
                CounterNames.REMOTE_READ_REQUESTS, 7L,
                CounterNames.RAM_HIT_BYTES, 2_000_000_000L,
                CounterNames.NON_LOCAL_HIT_BYTES, 1_000_000_000L,
                CounterNames.REMOTE_READ_BYTES, 9L,
                CounterNames.CROSS_ZONE_BYTES, 500_000_000L)));
        assertThat(table.savedRequests()).contains(2000L);
        assertThat(table.savedBytes()).contains(3_000_000_000L);
        assertThat(table.savedCost(prices).orElseThrow()).isCloseTo(0.8 + 0.3 - 0.01, within(1e-9));

        TableContents partition = new TableContents(new SchemaTableName("s", "t"), Optional.of("day=1"), 1, 2, Optional.empty());
        assertThat(partition.savedCost(prices)).isEmpty();
        assertThat(partition.counter(CounterNames.REQUESTS)).isEmpty();
    }

    @Test
    void testNames()
    {
        assertThat(ReadableTables.parse("schema.table")).contains(new SchemaTableName("schema", "table"));
        assertThat(ReadableTables.parse("schema.odd.table")).contains(new SchemaTableName("schema", "odd.table"));
        assertThat(ReadableTables.parse("")).isEmpty();
        assertThat(ReadableTables.parse("table")).isEmpty();
        assertThat(ReadableTables.parse(".table")).isEmpty();
        assertThat(ReadableTables.parse("schema.")).isEmpty();
    }
}
