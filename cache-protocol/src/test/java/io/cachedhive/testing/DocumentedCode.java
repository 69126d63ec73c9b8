package io.cachedhive.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * Code in the pages of the project: fenced blocks, and spans between back quotes.
 */
public final class DocumentedCode
{
    private static final Pattern FENCE = Pattern.compile("^( *)```([a-z]*)$");
    private static final Pattern SPAN = Pattern.compile("`([^`\n]+)`");

    private DocumentedCode() {}

    /**
     * A fenced block.
     *
     * @param page the path below the root of the project
     * @param line the number of the line with the opening fence, from 1
     * @param language empty for commands
     */
    public record Block(String page, int line, String language, List<String> lines)
    {
        public Block
        {
            requireNonNull(page, "page is null");
            requireNonNull(language, "language is null");
            lines = List.copyOf(lines);
        }

        public String text()
        {
            return String.join("\n", lines);
        }

        public String where()
        {
            return "%s:%s".formatted(page, line);
        }
    }

    /**
     * A command.
     *
     * @param whole whether it is a line of a block: a span can be a part of a command
     */
    public record Command(String where, String text, boolean whole)
    {
        public Command
        {
            requireNonNull(where, "where is null");
            requireNonNull(text, "text is null");
        }

        /**
         * Returns the words of the command as a shell passes them to the program. Quotes keep words together.
         */
        public List<String> words()
        {
            List<String> words = new ArrayList<>();
            Matcher matcher = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)").matcher(text);
            while (matcher.find()) {
                words.add(matcher.group(1) != null ? matcher.group(1) : matcher.group(2) != null ? matcher.group(2) : matcher.group(3));
            }
            return words;
        }
    }

    /**
     * Returns the root of the project that contains the directory of the running test.
     */
    public static Path root()
    {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("CONTRIBUTING.md"))) {
            root = requireNonNull(root.getParent(), "the test runs outside of the project");
        }
        return root;
    }

    /**
     * Returns the pages of the project, as paths below its root.
     */
    public static List<String> pages()
    {
        Path root = root();
        try (Stream<Path> docs = Files.walk(root.resolve("docs")); Stream<Path> top = Files.list(root)) {
            return Stream.concat(top, docs)
                    .filter(path -> path.toString().endsWith(".md"))
                    .map(path -> root.relativize(path).toString())
                    .sorted()
                    .toList();
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(String page)
    {
        try {
            return Files.readString(root().resolve(page));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns the fenced blocks of all pages.
     */
    public static List<Block> blocks()
    {
        return pages().stream().flatMap(page -> blocks(page, read(page)).stream()).toList();
    }

    /**
     * Returns the fenced blocks of a text, without the indentation of their fences.
     */
    public static List<Block> blocks(String page, String text)
    {
        List<Block> blocks = new ArrayList<>();
        List<String> lines = text.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            Matcher fence = FENCE.matcher(lines.get(i));
            if (!fence.matches()) {
                continue;
            }
            int indent = fence.group(1).length();
            int end = i + 1;
            while (!lines.get(end).strip().equals("```")) {
                end++;
            }
            blocks.add(new Block(page, i + 1, fence.group(2), lines.subList(i + 1, end).stream()
                    .map(line -> line.substring(Math.min(indent, line.length())))
                    .toList()));
            i = end;
        }
        return blocks;
    }

    /**
     * Returns all calls of a program, in blocks of commands and in spans of all pages.
     */
    public static List<Command> commands(String program)
    {
        return pages().stream().flatMap(page -> commands(program, page, read(page)).stream()).toList();
    }

    /**
     * Returns all calls of a program in a text.
     */
    public static List<Command> commands(String program, String page, String text)
    {
        List<Command> commands = new ArrayList<>();
        for (Block block : blocks(page, text)) {
            if (isCommands(block)) {
                commandLines(block).stream()
                        .flatMap(line -> Stream.of(line.split(" && | \\| ")))
                        .filter(line -> isCall(program, line))
                        .forEach(line -> commands.add(new Command(block.where(), line, true)));
            }
        }
        boolean fenced = false;
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            if (line.strip().startsWith("```")) {
                fenced = !fenced;
            }
            else if (!fenced) {
                String where = "%s:%s".formatted(page, number);
                SPAN.matcher(line).results()
                        .map(span -> span.group(1).strip())
                        .filter(span -> isCall(program, span))
                        .forEach(span -> commands.add(new Command(where, span, false)));
            }
        }
        return commands;
    }

    private static boolean isCall(String program, String line)
    {
        return line.equals(program) || line.startsWith(program + " ");
    }

    /**
     * Returns whether a block contains commands for a shell.
     */
    public static boolean isCommands(Block block)
    {
        return block.language().isEmpty() || block.language().equals("bash");
    }

    /**
     * Returns the commands of a block, without comments. A line that is indented continues the one before.
     */
    public static List<String> commandLines(Block block)
    {
        return block.text().replaceAll("\\s*\\\\?\n +", " ").lines()
                .map(line -> line.replaceAll("(^|\\s+)#.*", "").strip())
                .filter(line -> !line.isEmpty())
                .toList();
    }
}
