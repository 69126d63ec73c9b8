package io.cachedhive.rules;

import io.cachedhive.testing.DocumentedCode;
import io.cachedhive.testing.DocumentedCode.Block;
import org.junit.jupiter.api.Test;

import java.util.List;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The parser accepts all rules files in the pages of the project. No page has other JSON.
 */
class TestDocumentedRules
{
    @Test
    void testRulesFilesOfAllPages()
    {
        List<Block> blocks = DocumentedCode.blocks().stream()
                .filter(block -> block.language().equals("json"))
                .toList();
        assertThat(blocks).hasSizeGreaterThanOrEqualTo(4);
        for (Block block : blocks) {
            assertThatCode(() -> RulesParser.parse(block.text().getBytes(UTF_8))).as(block.where()).doesNotThrowAnyException();
        }
    }

    @Test
    void testWrongRulesFileIsFound()
    {
        Block block = DocumentedCode.blocks("page.md", "Text\n\n```json\n{\"rules\": [{\"tabel\": \"a\"}]}\n```\n").getFirst();
        assertThat(block.where()).isEqualTo("page.md:3");
        assertThatThrownBy(() -> RulesParser.parse(block.text().getBytes(UTF_8))).hasMessageContaining("has a field \"tabel\"");
    }
}
