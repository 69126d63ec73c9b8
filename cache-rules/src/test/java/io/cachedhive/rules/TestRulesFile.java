package io.cachedhive.rules;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

class TestRulesFile
{
    private static RulesFile parse(String... rules)
            throws RulesException
    {
        return RulesParser.parse("{\"rules\": [%s]}".formatted(String.join(", ", rules)).getBytes(UTF_8));
    }

    /**
     * Whether the first rule hides the second one.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {}                                                      | {"table": "a"}                                          | true
            {"table": "a"}                                          | {}                                                      | false
            {"table": "a"}                                          | {"table": "a", "user": "bob"}                           | true
            {"table": "a"}                                          | {"table": "b"}                                          | false
            {"table": "a", "user": "bob"}                           | {"table": "a"}                                          | false
            {"schema": "s", "source": "x"}                          | {"schema": "s", "source": "x", "sample": 0.5}           | true
            {"clientTags": ["a"]}                                   | {"clientTags": ["b", "a"]}                              | true
            {"clientTags": ["a", "b"]}                              | {"clientTags": ["a"]}                                   | false
            {"fileSize": {"min": "1MB"}}                            | {"fileSize": {"min": "2MB", "max": "3MB"}}              | true
            {"fileSize": {"max": "2MB"}}                            | {"fileSize": {"min": "1MB"}}                            | false
            {"fileSize": {"max": "2MB"}}                            | {"table": "a"}                                          | false
            {"scanBytes": {"min": "1TB"}}                           | {"scanBytes": {"min": "1TB"}}                           | true
            {"sample": 0.5}                                         | {"sample": 0.4}                                         | true
            {"sample": 0.4}                                         | {"sample": 0.5}                                         | false
            {"sample": 0.4}                                         | {}                                                      | false
            {"partitionAge": {"columns": ["ds"], "max": "7d"}}      | {"partitionAge": {"columns": ["ds"], "max": "7d"}}      | true
            {"partitionAge": {"columns": ["ds"], "max": "7d"}}      | {"partitionAge": {"columns": ["ds"], "max": "8d"}}      | false
            {}                                                      | {"table": "a", "quota": "1GB"}                          | false
            """)
    void testUnreachable(String first, String second, boolean hidden)
            throws RulesException
    {
        assertThat(parse(first, second).unreachable()).hasSize(hidden ? 1 : 0);
    }

    @Test
    void testProblem()
            throws RulesException
    {
        RulesFile file = parse("{\"name\": \"a\", \"table\": \"x\"}", "{\"name\": \"all\"}", "{\"name\": \"b\", \"table\": \"x\"}", "{\"name\": \"c\", \"table\": \"y\"}");
        assertThat(file.unreachable()).extracting(RulesFile.Unreachable::problem).containsExactly(
                "rule b never decides, because rule a before it matches all its splits: move it before that rule, or remove it",
                "rule c never decides, because rule all before it matches all its splits: move it before that rule, or remove it");
    }
}
