package io.cachedhive.quickstart.page;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TestPageText
{
    private static String page(String text, String result)
    {
        return "# Page\n%s\n```sql\nSELECT 1\n```\n\n```text\n%s\n```\nmore\n".formatted(text, result);
    }

    @Test
    void testKeepsWhatSaysTheSame()
    {
        String earlier = page("a", " job                         | bytes | left\n-----------------------------+-------+-----\n 20260102_030405_00006_abcde |    17 |    0");
        String again = page("b", " job                         | bytes | left\n-----------------------------+--------+-----\n 20270102_030405_00007_fghij | 12,345 |    0");
        assertThat(PageText.keepResults(again, earlier)).isEqualTo(earlier.replace("\na\n", "\nb\n"));
        assertThat(PageText.keepResults(again, "")).isEqualTo(again);
        assertThat(PageText.keepResults(again, again)).isEqualTo(again);
    }

    @Test
    void testTakesWhatSaysSomethingElse()
    {
        String earlier = page("a", " state  | left\n RUNNING |   0");
        assertThat(PageText.keepResults(page("a", " state  | left\n FAILED |   0"), earlier)).contains("FAILED").doesNotContain("RUNNING");
        // nothing is not some
        assertThat(PageText.keepResults(page("a", " state  | left\n RUNNING |   5"), earlier)).contains("|   5");
        assertThat(PageText.keepResults(page("a", " state  | left\n RUNNING |   0\n RUNNING |   0"), earlier)).contains("0\n RUNNING");
    }

    @Test
    void testMask()
    {
        assertThat(PageText.mask("2026-11-22 13:02:10.123 UTC, 0.75 of 1.2E7, 0.0 of 0")).isEqualTo("N-N-N N UTC, N of N, 0 of 0");
        assertThat(PageText.mask("0.7499637481938194 and 0.75")).isEqualTo("N and N");
        assertThat(PageText.mask("s3://lake/t/20260102_030405_00006_abcde_1f2e3d4c-aaaa-bbbb-cccc-ddddeeeeffff.orc")).isEqualTo("s3://lake/t/ID.orc");
        assertThat(PageText.mask("ring 1a2b3c4d5e6f7788 of cached facade")).isEqualTo("ring ID of cached facade");
    }

    @Test
    void testWithoutResults()
    {
        assertThat(PageText.withoutResults(page("a", "x"))).isEqualTo("# Page\na\n```sql\nSELECT 1\n```\n\nmore\n").isEqualTo(PageText.withoutResults(page("a", "y\nz")));
        assertThat(PageText.withoutResults(page("a", "x"))).isNotEqualTo(PageText.withoutResults(page("b", "x")));
    }
}
