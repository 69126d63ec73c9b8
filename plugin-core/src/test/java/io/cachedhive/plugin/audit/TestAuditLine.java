package io.cachedhive.plugin.audit;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.plugin.audit.AuditLine.Outcome;
import org.junit.jupiter.api.Test;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestAuditLine
{
    @Test
    void testFields()
    {
        Map<String, Object> arguments = ImmutableMap.of(
                "schema_name", "web",
                "partition_values", Collections.singletonList(null),
                "columns", List.of("it's", "b"),
                "pin", true,
                "max_bytes_per_second", 7L);
        assertThat(new AuditLine("alice", "q_1", "lake.system.preload_table", arguments, Outcome.SUCCEEDED, Optional.empty()))
                .hasToString("user='alice' query=q_1 procedure=lake.system.preload_table arguments=(schema_name => 'web', partition_values => ARRAY[NULL], "
                        + "columns => ARRAY['it''s', 'b'], pin => true, max_bytes_per_second => 7) outcome=SUCCEEDED");
        assertThat(new AuditLine("bob", "q_2", "lake.system.refresh_cache_rules", Map.of(), Outcome.DENIED, Optional.of("no")))
                .hasToString("user='bob' query=q_2 procedure=lake.system.refresh_cache_rules arguments=() outcome=DENIED reason='no'");
    }

    @Test
    void testCannotBeForged()
    {
        String line = line("x\r\nuser='root'\u001b[2K\u2028\u202e\u0085\\u000A\ud800").toString();
        assertThat(line).contains("location => 'x\\u000D\\u000Auser=''root''\\u001B[2K\\u2028\\u202E\\u0085\\\\u000A\\uD800'");
        assertThat(line.chars().allMatch(character -> character >= ' ' && character < 0x7f)).isTrue();
        AuditLine named = new AuditLine("a' query=q_9\n", "q_1", "p", Map.of(), Outcome.FAILED, Optional.of("broken\nuser='root'"));
        assertThat(named).hasToString("user='a'' query=q_9\\u000A' query=q_1 procedure=p arguments=() outcome=FAILED reason='broken\\u000Auser=''root'''");
    }

    @Test
    void testLettersAreReadable()
    {
        assertThat(line("s3://lake/größe/données=東京/").toString()).contains("'s3://lake/größe/données=東京/'");
    }

    @Test
    void testPasswordsAreHidden()
    {
        assertThat(line("s3n://AKIA1:open/sesame@lake/t/").toString()).contains("open/sesame");
        assertThat(line("s3n://AKIA1:opensesame@lake/t/").toString()).contains("'s3n://AKIA1:***@lake/t/'").doesNotContain("opensesame");
        assertThat(line("abfss://container@account.dfs.core.windows.net/t@1/").toString()).contains("'abfss://container@account.dfs.core.windows.net/t@1/'");
    }

    @Test
    void testLengthIsBounded()
    {
        assertThat(line("x".repeat(1_000_000)).toString()).contains("x... (1000000 characters)").hasSizeLessThan(2_200);
        AuditLine many = new AuditLine("alice", "q_1", "p", Map.of("values", Collections.nCopies(100_000, "12345")), Outcome.FAILED, Optional.of("y".repeat(1_000_000)));
        assertThat(many.toString()).contains("outcome=FAILED").hasSizeLessThan(10_500);
    }

    private static AuditLine line(String location)
    {
        return new AuditLine("alice", "q_1", "lake.system.flush_location", Map.of("location", location), Outcome.SUCCEEDED, Optional.empty());
    }
}
