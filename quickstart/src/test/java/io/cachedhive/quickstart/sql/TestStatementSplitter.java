package io.cachedhive.quickstart.sql;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

final class TestStatementSplitter
{
    @Test
    void testSplitsAtSemicolons()
    {
        assertThat(StatementSplitter.split("SELECT 1; SELECT 2 ;\n SELECT 3")).containsExactly("SELECT 1", "SELECT 2", "SELECT 3");
    }

    @Test
    void testNothingToRun()
    {
        assertThat(StatementSplitter.split(" \n ;; -- only a comment\n /* and; another */ ;")).isEmpty();
    }

    @Test
    void testSemicolonsWithinQuotes()
    {
        assertThat(StatementSplitter.split("SELECT 'a;b', 'it''s;', \"x;\"\"y\" FROM t; SELECT ';'"))
                .containsExactly("SELECT 'a;b', 'it''s;', \"x;\"\"y\" FROM t", "SELECT ';'");
    }

    @Test
    void testSemicolonsWithinComments()
    {
        assertThat(StatementSplitter.split("SELECT 1 -- one; not two\n, 2; SELECT /* ; ' */ 3"))
                .containsExactly("SELECT 1 -- one; not two\n, 2", "SELECT /* ; ' */ 3");
    }

    @Test
    void testQuotesWithinCommentsAndCommentsWithinQuotes()
    {
        assertThat(StatementSplitter.split("SELECT 1 -- it's\n; SELECT '--'; SELECT '/*'; SELECT 2"))
                .containsExactly("SELECT 1 -- it's", "SELECT '--'", "SELECT '/*'", "SELECT 2");
        assertThat(StatementSplitter.split("SELECT /*/ ; */ 1; SELECT 2")).containsExactly("SELECT /*/ ; */ 1", "SELECT 2");
    }

    @Test
    void testLineByLine()
    {
        StatementSplitter splitter = new StatementSplitter();
        List<String> statements = new ArrayList<>();
        assertThat(splitter.isEmpty()).isTrue();
        statements.addAll(splitter.add("SELECT 'a\n"));
        assertThat(splitter.isEmpty()).isFalse();
        statements.addAll(splitter.add("; b'\n"));
        assertThat(statements).isEmpty();
        statements.addAll(splitter.add("; SELECT 2; SELECT\n"));
        assertThat(statements).containsExactly("SELECT 'a\n; b'", "SELECT 2");
        assertThat(splitter.isEmpty()).isFalse();
        assertThat(splitter.finish()).isEqualTo("SELECT");
        assertThat(splitter.isEmpty()).isTrue();
        assertThat(splitter.finish()).isEmpty();
    }
}
