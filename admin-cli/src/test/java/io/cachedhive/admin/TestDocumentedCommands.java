package io.cachedhive.admin;

import io.cachedhive.testing.DocumentedCode;
import io.cachedhive.testing.DocumentedCode.Command;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.List;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The program's own parser accepts all its command lines in the pages of the project.
 */
class TestDocumentedCommands
{
    private static final String PROGRAM = "cache-admin";

    @Test
    void testCommandsOfAllPages()
    {
        List<Command> commands = DocumentedCode.commands(PROGRAM);
        assertThat(commands).hasSizeGreaterThan(100);
        assertThat(commands).filteredOn(Command::whole).hasSizeGreaterThan(10);
        assertThat(problems(commands)).isEmpty();
    }

    @Test
    void testWrongCommandsAreFound()
    {
        assertThat(problems(DocumentedCode.commands(PROGRAM, "page.md",
                """
                Use `cache-admin instal` or `cache-admin install --package`, and `cache-admin status --host a`.

                ```
                cache-admin install --package a.tar.gz   # a comment
                cd x && cache-admin install --package
                cache-admin drain --hosts a
                        --deadlin 5m
                ```

                ```text
                cache-admin not a command
                ```
                """)))
                .satisfiesExactly(
                        problem -> assertThat(problem).startsWith("page.md:3: cache-admin install --package: Missing required parameter"),
                        problem -> assertThat(problem).startsWith("page.md:3: cache-admin drain --hosts a --deadlin 5m: Unknown options: '--deadlin', '5m'"),
                        problem -> assertThat(problem).startsWith("page.md:1: cache-admin instal: Unmatched argument at index 0: 'instal'"),
                        problem -> assertThat(problem).startsWith("page.md:1: cache-admin status --host a: Unknown options: '--host', 'a'"));
    }

    private static List<String> problems(List<Command> commands)
    {
        return commands.stream().flatMap(command -> problem(command).stream()).toList();
    }

    private static Optional<String> problem(Command command)
    {
        List<String> words = command.words();
        // a name for any command
        if (words.contains("COMMAND") || words.contains("…")) {
            return Optional.empty();
        }
        Console console = new Console(new PrintWriter(Writer.nullWriter()), new PrintWriter(Writer.nullWriter()), false);
        CommandLine commandLine = CacheAdmin.commandLine(console);
        try {
            commandLine.parseArgs(words.subList(1, words.size()).toArray(String[]::new));
            return Optional.empty();
        }
        catch (MissingParameterException e) {
            // the text around a span names the rest
            return command.whole() ? Optional.of(message(command, e)) : Optional.empty();
        }
        catch (ParameterException e) {
            return Optional.of(message(command, e));
        }
    }

    private static String message(Command command, ParameterException problem)
    {
        return "%s: %s: %s".formatted(command.where(), command.text(), problem.getMessage());
    }
}
