package io.cachedhive.plugin.rules;

import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.table.ScanFile;
import io.cachedhive.plugin.table.TableName;
import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.rules.RulesException;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

class TestScanRules
{
    private static final OptionalLong NO_QUOTA = OptionalLong.of(FillTerms.NO_QUOTA);
    // a catalog with rules says it of every table, so that a quota ends that was in the file before
    private static final CacheDecision CACHE = CacheDecision.CACHE.withTableQuota(NO_QUOTA);
    private static final CacheDecision HIGH = CacheDecision.cache(Optional.of(FillClass.HIGH), OptionalLong.empty()).withTableQuota(NO_QUOTA);
    private static final RuleScan SCAN = new RuleScan(new TableName("sales", "orders"), "alice", Optional.of("trino-cli"), Set.of("adhoc", "team-a"));

    private final ManualTime time = new ManualTime();

    private static CacheRules rules(String... rules)
            throws RulesException
    {
        return CacheRules.of(RulesParser.parse("{\"rules\": [%s]}".formatted(String.join(", ", rules)).getBytes(UTF_8)).rules(), Instant.EPOCH, Optional.empty());
    }

    private ScanRules begin(CacheRules rules, RuleScan scan)
    {
        return new ScanRules(rules, scan, time.instant());
    }

    private static ScanFile split(String location, long fileSize, long length, String... partition)
    {
        Map<String, String> values = new HashMap<>();
        for (String key : partition) {
            values.put(key.split("=")[0], key.split("=")[1]);
        }
        return new ScanFile(location, 0, length, fileSize, 0, values);
    }

    private static ScanFile split()
    {
        return split("s3://lake/file", 1000, 1000);
    }

    /**
     * Whether a rule with this condition decides for a first split.
     */
    private boolean matches(String condition, RuleScan scan, ScanFile split)
            throws RulesException
    {
        CacheDecision decision = begin(rules("{%s, \"action\": \"bypass\"}".formatted(condition)), scan).decide(split);
        assertThat(decision).isIn(CacheDecision.BYPASS, CACHE);
        return decision.bypass();
    }

    private boolean matches(String condition)
            throws RulesException
    {
        return matches(condition, SCAN, split());
    }

    @Test
    void testActions()
            throws RulesException
    {
        assertThat(begin(rules("{\"action\": \"read_only\"}"), SCAN).decide(split())).isEqualTo(CACHE.withoutFill());
        CacheDecision shadow = begin(rules("{\"action\": \"shadow\"}"), SCAN).decide(split());
        assertThat(shadow).isEqualTo(CacheDecision.SHADOW.withTableQuota(NO_QUOTA));
        assertThat(shadow.within(CacheDecision.CACHE).shadow()).isTrue();
        assertThat(shadow.within(CacheDecision.CACHE.withoutFill()).shadow()).isTrue();
        assertThat(shadow.within(CacheDecision.BYPASS)).isEqualTo(CacheDecision.BYPASS);
        assertThat(begin(rules("{\"action\": \"bypass\"}"), SCAN).decide(split())).isEqualTo(CacheDecision.BYPASS);
    }

    @Test
    void testNames()
            throws Exception
    {
        assertThat(matches("\"schema\": \"sales\"")).isTrue();
        assertThat(matches("\"schema\": \"sale\"")).as("the whole name").isFalse();
        assertThat(matches("\"schema\": \"sales|hr\", \"table\": \"ord.*\"")).isTrue();
        assertThat(matches("\"schema\": \"sales\", \"table\": \"lineitem\"")).isFalse();
        assertThat(matches("\"user\": \"ali.*\"")).isTrue();
        assertThat(matches("\"user\": \"bob\"")).isFalse();
        assertThat(matches("\"source\": \"trino-cli\"")).isTrue();
        assertThat(matches("\"source\": \"superset\"")).isFalse();
        RuleScan withoutSource = new RuleScan(SCAN.table(), SCAN.user(), Optional.empty(), Set.of());
        assertThat(matches("\"source\": \"trino-cli\"", withoutSource, split())).isFalse();
        assertThat(matches("\"source\": \"\"", withoutSource, split())).isTrue();
    }

    @Test
    void testClientTags()
            throws Exception
    {
        assertThat(matches("\"clientTags\": [\"adhoc\"]")).isTrue();
        assertThat(matches("\"clientTags\": [\"team-a\", \"adhoc\"]")).isTrue();
        assertThat(matches("\"clientTags\": [\"adhoc\", \"etl\"]")).as("all of them").isFalse();
    }

    @Test
    void testFileSize()
            throws Exception
    {
        String small = "\"fileSize\": {\"max\": \"1kB\"}";
        assertThat(matches(small, SCAN, split("s3://lake/file", 1024, 10))).isTrue();
        assertThat(matches(small, SCAN, split("s3://lake/file", 1025, 10))).isFalse();
        String large = "\"fileSize\": {\"min\": \"1kB\", \"max\": \"2kB\"}";
        assertThat(matches(large, SCAN, split("s3://lake/file", 1023, 10))).isFalse();
        assertThat(matches(large, SCAN, split("s3://lake/file", 1024, 10))).isTrue();
        assertThat(matches(large, SCAN, split("s3://lake/file", 2048, 10))).isTrue();
        assertThat(matches(large, SCAN, split("s3://lake/file", 2049, 10))).isFalse();
    }

    @Test
    void testPartitionAgeWithAShiftedClock()
            throws Exception
    {
        CacheRules rules = rules("{\"partitionAge\": {\"columns\": [\"YEAR\", \"month\", \"day\"], \"max\": \"7d\"}, \"class\": \"high\"}", "{\"action\": \"bypass\"}");
        ScanFile old = split("s3://lake/old", 1000, 1000, "region=eu", "year=2024", "month=2", "day=29");
        ScanFile recent = split("s3://lake/recent", 1000, 1000, "region=eu", "year=2024", "month=03", "day=01");
        ScanRules today = begin(rules, SCAN);
        assertThat(today.decide(old)).isEqualTo(CacheDecision.BYPASS);
        assertThat(today.decide(recent)).isEqualTo(HIGH);
        assertThat(today.decide(split())).as("not partitioned").isEqualTo(CacheDecision.BYPASS);
        time.advance(Duration.ofDays(1));
        assertThat(today.decide(recent)).as("all splits of a scan at the same time").isEqualTo(HIGH);
        assertThat(begin(rules, SCAN).decide(recent)).isEqualTo(CacheDecision.BYPASS);
    }

    @Test
    void testScanBytesCountUpToTheSplit()
            throws Exception
    {
        ScanRules scan = begin(rules("{\"name\": \"beyond\", \"scanBytes\": {\"min\": \"1kB\"}, \"action\": \"bypass\"}"), SCAN);
        assertThat(scan.decide(split("s3://lake/1", 9999, 500))).isEqualTo(CACHE);
        assertThat(scan.decide(split("s3://lake/2", 9999, 523))).isEqualTo(CACHE);
        assertThat(scan.decide(split("s3://lake/3", 9999, 1))).isEqualTo(CacheDecision.BYPASS);
        assertThat(scan.decide(split("s3://lake/4", 9999, 1))).isEqualTo(CacheDecision.BYPASS);
        assertThat(scan.splitsByRule()).isEqualTo(Map.of("default", 2L, "beyond", 2L));
    }

    @Test
    void testSampleIsAStableShareOfTheFiles()
            throws Exception
    {
        Set<String> five = sample("0.05");
        Set<String> ten = sample("0.1");
        assertThat(five.size()).isBetween(400, 600);
        assertThat(ten.size()).isBetween(850, 1150);
        assertThat(ten).as("grows").containsAll(five);
        assertThat(sample("0.05")).as("the same ones each time").isEqualTo(five);
        assertThat(sample("1")).hasSize(10_000);
        // for all splits of a file, whatever else is known of it
        String location = five.iterator().next();
        assertThat(matches("\"sample\": 0.05", SCAN, split(location, 5, 5, "ds=2024"))).isTrue();
    }

    private Set<String> sample(String share)
            throws RulesException
    {
        ScanRules scan = begin(rules("{\"sample\": %s, \"action\": \"bypass\"}".formatted(share)), SCAN);
        Set<String> matched = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            String location = "s3://lake/table/part-" + i;
            if (scan.decide(split(location, 1000, 1000)).bypass()) {
                matched.add(location);
            }
        }
        return matched;
    }

    @Test
    void testFirstMatchWins()
            throws Exception
    {
        CacheRules rules = rules(
                "{\"name\": \"first\", \"table\": \"orders\", \"fileSize\": {\"max\": \"1kB\"}, \"class\": \"high\"}",
                "{\"name\": \"rest\", \"action\": \"bypass\"}");
        ScanRules orders = begin(rules, SCAN);
        assertThat(orders.decide(split())).isEqualTo(HIGH);
        assertThat(orders.decide(split("s3://lake/large", 5000, 2000))).isEqualTo(CacheDecision.BYPASS);
        ScanRules other = begin(rules, new RuleScan(new TableName("sales", "lineitem"), "alice", Optional.empty(), Set.of()));
        assertThat(other.decide(split())).isEqualTo(CacheDecision.BYPASS);

        assertThat(rules.rules()).extracting(rule -> rule.rule().name()).containsExactly("first", "rest", "default");
        assertThat(rules.rules()).extracting(rule -> rule.counter().scans()).containsExactly(1L, 2L, 0L);
        assertThat(rules.rules()).extracting(rule -> rule.counter().splits()).containsExactly(1L, 2L, 0L);
        assertThat(rules.rules()).extracting(rule -> rule.counter().bytes()).containsExactly(1000L, 3000L, 0L);
        assertThat(rules.rules()).extracting(rule -> rule.counter().last()).containsExactly(Optional.of(time.instant()), Optional.of(time.instant()), Optional.empty());
    }

    @Test
    void testWithoutRulesEverythingIsCached()
            throws Exception
    {
        assertThat(begin(rules(), SCAN).decide(split())).isEqualTo(CACHE);
    }

    @Test
    void testQuotaOfTheTableWhateverElseDecides()
            throws Exception
    {
        CacheRules rules = rules(
                "{\"user\": \"alice\", \"table\": \"orders\", \"class\": \"high\"}",
                "{\"table\": \"items\", \"action\": \"bypass\"}",
                "{\"schema\": \"sales\", \"table\": \"orders|items\", \"quota\": \"1MB\"}",
                "{\"schema\": \"sales\", \"quota\": \"2MB\"}");
        OptionalLong first = OptionalLong.of(1 << 20);
        assertThat(begin(rules, SCAN).decide(split())).isEqualTo(CacheDecision.cache(Optional.of(FillClass.HIGH), OptionalLong.empty()).withTableQuota(first));
        assertThat(begin(rules, scanOf("sales", "orders")).decide(split())).isEqualTo(CacheDecision.CACHE.withTableQuota(first));
        assertThat(begin(rules, scanOf("sales", "items")).decide(split())).isEqualTo(CacheDecision.BYPASS);
        assertThat(begin(rules, scanOf("sales", "other")).decide(split())).isEqualTo(CacheDecision.CACHE.withTableQuota(OptionalLong.of(2 << 20)));
        assertThat(begin(rules, scanOf("other", "orders")).decide(split())).isEqualTo(CACHE);
        assertThat(CACHE.withoutFill().terms().tableQuotaBytes()).isEqualTo(NO_QUOTA);
    }

    private static RuleScan scanOf(String schema, String table)
    {
        return new RuleScan(new TableName(schema, table), "bob", Optional.empty(), Set.of());
    }
}
