package io.cachedhive.worker.usage;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.StatusMessage.CountedTable;
import io.cachedhive.protocol.wire.StatusMessage.Tables;
import io.cachedhive.protocol.wire.StatusMessage.Usage;
import io.cachedhive.worker.usage.UsageCounters.Account;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class TestUsageCounters
{
    private static final Account LAKE = new Account("cluster", "lake");
    private static final Account OTHER = new Account("cluster", "other");
    private static final Digest128 CLIENT = new Digest128(1, 2);

    private final ManualClock clock = new ManualClock();
    private final UsageCounters counters = new UsageCounters(clock);
    private long batches;

    static Usage batch(Digest128 client, long batch, String table, long bytes)
    {
        return new Usage(client, batch, Map.of(table, Map.of("ram_hit_bytes", bytes, "requests", 1L)), List.of());
    }

    static Map<String, Map<String, Long>> tables(UsageCounters counters, Account account)
    {
        Map<String, Map<String, Long>> tables = new HashMap<>();
        Tables page = new Tables(List.of(), false);
        do {
            page = counters.page(account, page.tables().isEmpty() ? "" : page.tables().getLast().table());
            page.tables().forEach(table -> assertThat(tables.put(table.table(), table.counters())).isNull());
        }
        while (page.more());
        return tables;
    }

    private void count(String table, long bytes)
    {
        batches++;
        assertThat(counters.add(LAKE, batch(new Digest128(9, 9), batches, table, bytes))).isTrue();
    }

    @Test
    void testEachBatchCountsOnce()
    {
        assertThat(counters.add(LAKE, batch(CLIENT, 1, "s.a", 10))).isTrue();
        assertThat(counters.add(LAKE, batch(CLIENT, 1, "s.a", 10))).isFalse();
        assertThat(counters.add(LAKE, batch(CLIENT, 2, "s.a", 5))).isTrue();
        assertThat(counters.add(LAKE, batch(CLIENT, 1, "s.a", 10))).isFalse();
        assertThat(counters.add(LAKE, batch(new Digest128(3, 4), 1, "s.b", 7))).isTrue();
        assertThat(counters.add(OTHER, batch(new Digest128(5, 6), 1, "s.a", 100))).isTrue();

        assertThat(tables(counters, LAKE)).isEqualTo(Map.of(
                "s.a", Map.of("ram_hit_bytes", 15L, "requests", 2L),
                "s.b", Map.of("ram_hit_bytes", 7L, "requests", 1L)));
        assertThat(counters.totals(LAKE)).isEqualTo(Map.of("ram_hit_bytes", 22L, "requests", 3L));
        assertThat(counters.totals(OTHER)).isEqualTo(Map.of("ram_hit_bytes", 100L, "requests", 1L));
        assertThat(counters.totals()).isEqualTo(Map.of("ram_hit_bytes", 122L, "requests", 4L));
        assertThat(counters.totals(new Account("cluster", "unknown"))).isEmpty();
        assertThat(tables(counters, new Account("cluster", "unknown"))).isEmpty();
        assertThat(counters.accounts()).containsExactly(LAKE, OTHER);
    }

    @Test
    void testPages()
    {
        int tables = 5000;
        for (int i = 0; i < tables; i++) {
            count("schema_of_the_tables.table_with_a_name_%05d".formatted(i), i + 1);
        }
        List<String> names = new ArrayList<>();
        int pages = 0;
        String after = "";
        while (true) {
            Tables page = counters.page(LAKE, after);
            pages++;
            // a page ends with the table that makes it complete
            assertThat(page.toFrame(1).remaining()).isLessThan(Tables.PAGE_BYTES + 1000);
            page.tables().forEach(table -> names.add(table.table()));
            if (!page.more()) {
                break;
            }
            assertThat(page.toFrame(1).remaining()).isGreaterThan(Tables.PAGE_BYTES / 4);
            after = page.tables().getLast().table();
        }
        assertThat(pages).isGreaterThan(2);
        assertThat(names).hasSize(tables).isSorted().doesNotHaveDuplicates();
        // tables come and go between two pages
        String middle = names.get(2500);
        count("schema_of_the_tables.a_new_one", 1);
        assertThat(counters.page(LAKE, middle).tables()).first().extracting(CountedTable::table).isEqualTo(names.get(2501));
        assertThat(counters.page(LAKE, names.getLast())).isEqualTo(new Tables(List.of(), false));
    }

    @Test
    void testTablesAreForgottenAfterThirtyDaysWithoutReads()
    {
        count("s.idle", 10);
        count("s.read", 20);
        clock.advance(Duration.ofDays(29));
        count("s.read", 1);
        assertThat(counters.forget()).isZero();
        clock.advance(Duration.ofDays(1).plusMillis(1));
        assertThat(counters.forget()).isEqualTo(1);
        assertThat(tables(counters, LAKE)).containsOnlyKeys("s.read");
        // sums never shrink
        assertThat(counters.totals(LAKE)).containsEntry("ram_hit_bytes", 31L);

        // read again, it starts at zero
        count("s.idle", 3);
        assertThat(tables(counters, LAKE)).containsEntry("s.idle", Map.of("ram_hit_bytes", 3L, "requests", 1L));
        assertThat(counters.tableCount()).isEqualTo(2);
    }

    @Test
    void testForgottenTablesMakeRoom()
    {
        for (int i = 0; i < UsageCounters.MAX_TABLES; i++) {
            count("s.table" + i, 1);
        }
        count("s.beyond", 5);
        count("", 2);
        assertThat(tables(counters, LAKE)).doesNotContainKey("s.beyond").containsEntry(UsageCounters.OTHER_TABLES, Map.of("ram_hit_bytes", 7L, "requests", 2L));
        clock.advance(UsageCounters.TABLE_LIFETIME.plusMillis(1));
        count("s.table0", 1);
        assertThat(counters.forget()).isEqualTo(UsageCounters.MAX_TABLES);
        count("s.beyond", 5);
        assertThat(tables(counters, LAKE)).containsOnlyKeys("s.table0", "s.beyond");
        assertThat(counters.totals(LAKE)).containsEntry("ram_hit_bytes", UsageCounters.MAX_TABLES + 13L);
    }

    @Test
    void testUnknownCountersAreKeptWithinALimit()
    {
        Map<String, Long> many = new HashMap<>();
        for (int i = 0; i < 300; i++) {
            many.put("counter_" + i, 1L);
        }
        many.put("x".repeat(1000), 1L);
        counters.add(LAKE, new Usage(CLIENT, 1, Map.of("s.a", many), List.of()));
        assertThat(counters.totals()).hasSize(256).allSatisfy((name, _) -> assertThat(name).startsWith("counter_"));
    }
}
