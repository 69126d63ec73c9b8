package io.cachedhive.trino.contents;

import io.cachedhive.plugin.config.PricesConfig;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.ListingMessage.ListedFile;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSecurityContext;
import io.trino.spi.connector.SchemaTableName;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class TestTableContents
{
    @Test
    void testPartition()
    {
        assertThat(PartitionContents.partition("s3://lake/s.db/t/day=2024-01-01/hour=7/file")).contains("day=2024-01-01/hour=7");
        assertThat(PartitionContents.partition("s3://lake/s.db/t/day=1/file=1")).contains("day=1");
        assertThat(PartitionContents.partition("s3://lake/a=b/t/day=1/x/file")).isEmpty();
        assertThat(PartitionContents.partition("s3://lake/s.db/t/file")).isEmpty();
        assertThat(PartitionContents.partition("s3://lake/s.db/t/=x/file")).isEmpty();
        assertThat(PartitionContents.partition("s3://lake/s.db/t/url=a%2Fb=c/file")).contains("url=a%2Fb=c");
        assertThat(PartitionContents.partition("file")).isEmpty();
    }

    @Test
    void testSavings()
    {
        PricesConfig prices = new PricesConfig().setPricePerThousandRequests(0.4).setPricePerGigabyte(0.1).setCrossZonePricePerGigabyte(0.02);
        TableContents table = new TableContents(new SchemaTableName("s", "t"), 1, 2, Map.of(
                CounterNames.RAM_HIT_REQUESTS, 1000L,
                CounterNames.SSD_HIT_REQUESTS, 500L,
                CounterNames.NON_LOCAL_HIT_REQUESTS, 500L,
                CounterNames.REMOTE_READ_REQUESTS, 7L,
                CounterNames.RAM_HIT_BYTES, 2_000_000_000L,
                CounterNames.NON_LOCAL_HIT_BYTES, 1_000_000_000L,
                CounterNames.REMOTE_READ_BYTES, 9L,
                CounterNames.CROSS_ZONE_BYTES, 500_000_000L,
                CounterNames.BYPASS_REQUESTS, 13L,
                CounterNames.BYPASS_BYTES, 2_000_000_000L));
        assertThat(table.savedRequests()).isEqualTo(2000);
        assertThat(table.savedBytes()).isEqualTo(3_000_000_000L);
        assertThat(table.savedCost(prices)).isCloseTo(0.8 + 0.3 - 0.01, within(1e-9));
        assertThat(table.spentRequests()).isEqualTo(20);
        assertThat(table.spentCost(prices)).isCloseTo(0.008 + 0.2 + 9e-10, within(1e-12));
    }

    /**
     * Each file is in one row, with and without the limit.
     */
    @Test
    void testPartitions()
    {
        List<ListedFile> files = List.of(
                file("s3://lake/t/day=1/a", "s.t", 10),
                file("s3://lake/t/day=1/b", "s.t", 20),
                file("s3://lake/t/day=2/a", "s.t", 30),
                file("s3://lake/t/day=3/a", "s.t", 40),
                file("s3://lake/t/a", "s.t", 50),
                file("s3://lake/u/a", "s.u", 60),
                file("s3://lake/hidden/a", "s.hidden", 70));
        assertThat(partitions(files, 3)).containsExactly(
                "s.t Optional.empty 1 50",
                "s.t Optional[day=1] 2 30",
                "s.t Optional[day=2] 1 30",
                "s.t Optional[day=3] 1 40",
                "s.u Optional.empty 1 60");
        assertThat(partitions(files, 1)).containsExactly(
                "s.t Optional.empty 1 50",
                "s.t Optional[(other)] 2 70",
                "s.t Optional[day=1] 2 30",
                "s.u Optional.empty 1 60");
    }

    private static List<String> partitions(List<ListedFile> files, int limit)
    {
        return PartitionsTable.contents(files.iterator(), new ReadableTables(new AllButHidden()), limit).stream()
                .map(row -> "%s %s %s %s".formatted(row.table(), row.partition(), row.files(), row.cachedBytes()))
                .toList();
    }

    private static ListedFile file(String location, String table, long bytes)
    {
        return new ListedFile(new FileVersion(new OriginId(new Digest128(1, 2)), location, bytes, 0), table, bytes, 0, bytes, 1, 0);
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

    private static final class AllButHidden
            implements ConnectorAccessControl
    {
        @Override
        public Set<SchemaTableName> filterTables(ConnectorSecurityContext context, Set<SchemaTableName> tables)
        {
            return tables.stream().filter(table -> !table.getTableName().equals("hidden")).collect(toSet());
        }

        @Override
        public void checkCanSelectFromColumns(ConnectorSecurityContext context, SchemaTableName table, Optional<String> branch, Set<String> columns) {}
    }
}
