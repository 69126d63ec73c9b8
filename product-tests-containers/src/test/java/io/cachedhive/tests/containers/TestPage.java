package io.cachedhive.tests.containers;

import io.cachedhive.tests.containers.Page.Code;
import org.testng.annotations.Test;

import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * In every build, so that a page whose headings or code have changed is noticed before {@link TestPages} does what stands there.
 */
@Test(groups = "fast")
public class TestPage
{
    public void testSectionsAndCode()
    {
        Page page = new Page(Path.of("page.md"), """
                # Title

                ```sql
                SELECT 1
                ```

                ## First

                Text with `code` of its own.

                ```
                one   # comment

                two
                ```

                ### Below it

                ```json
                {}
                ```

                ## Second
                """);

        assertThat(page.codes()).extracting(Code::language).containsExactly("sql", "", "json");
        Page first = page.section("First");
        assertThat(first.text()).contains("Below it").doesNotContain("SELECT", "Second");
        assertThat(first.code("").lines()).containsExactly("one   # comment", "two");
        assertThat(first.code("json").text()).isEqualTo("{}\n");
        assertThat(page.section("Second").codes()).isEmpty();
        assertThatThrownBy(() -> page.section("Third")).hasMessageContaining("page.md has no section Third");
        assertThatThrownBy(() -> first.code("sql")).hasMessageContaining("page.md has no code of sql there");
    }

    public void testReadme()
            throws Exception
    {
        Page section = Page.read("README.md").section(TestPages.README_SECTION);
        assertThat(section.code("").lines().getFirst()).contains("PATH=");
        assertThat(section.code("").lines()).filteredOn(command -> command.contains(TestPages.WRITES_HOSTS_FILE)).hasSize(1);
        assertThat(section.text()).containsPattern(TestPages.STATEMENT).contains("`cache-admin disable`", "`cache-admin uninstall`");
    }

    public void testRollout()
            throws Exception
    {
        Page page = Page.read("docs/operations/rollout.md");
        assertThat(page.text()).contains("`%s`".formatted(TestPages.REFRESH_RULES));
        List<Page> steps = TestPages.ROLLOUT_SECTIONS.stream().map(page::section).toList();
        assertThat(steps).extracting(step -> step.codes().stream().map(Code::language).toList()).containsExactly(
                List.of("properties", "", "json", "sql"),
                List.of("sql"),
                List.of("json", "sql"),
                List.of("json"),
                List.of("", "sql"));
        assertThat(page.code("sql").text().replace("lake_cached", "lake")).as("the way back").isEqualTo(steps.getLast().code("sql").text());
    }
}
