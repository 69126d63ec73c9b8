package io.cachedhive.plugin.rules;

import io.cachedhive.plugin.event.CacheEvents;
import io.cachedhive.rules.RulesException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestRuleRegistry
{
    private static final Duration PERIOD = Duration.ofSeconds(2);
    private static final String BROKEN = "{\"rules\": [{\"table\": 5}]}";

    @TempDir
    private Path directory;

    private final ManualTime time = new ManualTime();
    private final CacheEvents events = new CacheEvents(time);
    private Path file;

    @BeforeEach
    void setUp()
    {
        file = directory.resolve("rules.json");
    }

    private RuleRegistry open()
            throws RulesException
    {
        return RuleRegistry.open("lake", Optional.of(file), PERIOD, time, time::nanoTime, events);
    }

    private void write(String... names)
            throws IOException
    {
        List<String> rules = List.of(names).stream().map(name -> "{\"name\": \"%s\"}".formatted(name)).toList();
        Files.writeString(file, "{\"rules\": [%s]}".formatted(String.join(", ", rules)));
    }

    private static List<String> names(RuleRegistry book)
    {
        return book.current().rules().stream().map(rule -> rule.rule().name()).toList();
    }

    @Test
    void testReload()
            throws Exception
    {
        write("one");
        Instant opened = time.instant();
        RuleRegistry book = open();
        assertThat(names(book)).containsExactly("one", "default");
        write("one", "two");
        time.advance(PERIOD.minusNanos(1));
        assertThat(names(book)).as("not looked at yet").containsExactly("one", "default");
        assertThat(book.current().loaded()).isEqualTo(opened);
        time.advance(Duration.ofNanos(1));
        assertThat(names(book)).containsExactly("one", "two", "default");
        assertThat(book.current().loaded()).isEqualTo(time.instant());
        assertThat(book.problem()).isEmpty();
    }

    @Test
    void testUnchangedRulesKeepTheirCounters()
            throws Exception
    {
        write("one", "two");
        RuleRegistry book = open();
        book.current().rules().forEach(rule -> rule.counter().addSplit(10));
        Files.writeString(file, "{\"rules\": [{\"name\": \"two\"}, {\"name\": \"one\", \"user\": \"bob\"}]}");
        book.refresh();
        assertThat(names(book)).containsExactly("two", "one", "default");
        assertThat(book.current().rules()).extracting(rule -> rule.counter().bytes()).containsExactly(10L, 0L, 10L);
    }

    @Test
    void testBrokenFileKeepsTheRulesBefore()
            throws Exception
    {
        write("one");
        RuleRegistry book = open();
        CacheRules before = book.current();
        Files.writeString(file, BROKEN);
        time.advance(PERIOD);
        assertThat(book.current()).isSameAs(before);
        String problem = "rules file %s of catalog lake: rule 1, \"table\" is 5: write a string; until then the rules of %s stay in force".formatted(file, before.loaded());
        assertThat(book.problem()).contains(problem);
        assertThatThrownBy(book::refresh).isInstanceOf(RulesException.class).hasMessage(problem);
        assertThat(book.current()).isSameAs(before);

        Files.delete(file);
        time.advance(PERIOD);
        assertThat(book.current()).isSameAs(before);
        assertThat(book.problem().orElseThrow())
                .startsWith("rules file %s does not exist on the coordinator: write it there, or correct cachedhive.rules-file of catalog lake; until then".formatted(file));

        // mended to what is in force, and then to something else
        write("one");
        time.advance(PERIOD);
        assertThat(book.current()).isSameAs(before);
        assertThat(book.problem()).isEmpty();
        write("two");
        book.refresh();
        assertThat(names(book)).containsExactly("two", "default");
        assertThat(book.problem()).isEmpty();
    }

    @Test
    void testEvents()
            throws Exception
    {
        write("one");
        RuleRegistry registry = open();
        Files.writeString(file, BROKEN);
        assertThatThrownBy(registry::refresh).isInstanceOf(RulesException.class);
        assertThatThrownBy(registry::refresh).as("the same problem again").isInstanceOf(RulesException.class);
        Files.writeString(file, "{\"mode\": \"OFF\", \"rules\": []}");
        registry.refresh();
        registry.refresh();
        assertThat(events.list()).extracting(event -> "%s %s".formatted(event.type(), event.description()))
                .hasSize(4)
                .startsWith("RULES loaded 1 rules from " + file)
                .endsWith("MODE mode of the rules file: OFF", "RULES loaded 0 rules from " + file)
                .anyMatch(event -> event.startsWith("RULES rules file %s of catalog lake: rule 1".formatted(file)));
    }

    @Test
    void testBrokenAtTheStart()
            throws Exception
    {
        assertThatThrownBy(this::open).isInstanceOf(RulesException.class).hasMessageStartingWith("rules file %s does not exist on the coordinator".formatted(file));
        Files.writeString(file, BROKEN);
        assertThatThrownBy(this::open).isInstanceOf(RulesException.class).hasMessage("rules file %s of catalog lake: rule 1, \"table\" is 5: write a string".formatted(file));
        Path unreadable = directory.resolve("directory");
        Files.createDirectory(unreadable);
        file = unreadable;
        assertThatThrownBy(this::open).isInstanceOf(RulesException.class).hasMessageContaining("cannot be read: make it readable for the user that Trino runs as");
    }

    @Test
    void testWithoutAFile()
    {
        RuleRegistry book = RuleRegistry.withoutFile("lake");
        assertThat(book.hasFile()).isFalse();
        assertThat(names(book)).containsExactly("default");
        assertThatThrownBy(book::refresh).isInstanceOf(RulesException.class).hasMessage("catalog lake has no rules file: set cachedhive.rules-file");
    }
}
