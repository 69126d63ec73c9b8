package io.cachedhive.admin;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.output.OutputFormat;
import io.cachedhive.rules.RulesException;
import io.cachedhive.rules.RulesFile;
import io.cachedhive.rules.RulesFile.Unreachable;
import io.cachedhive.rules.RulesParser;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Whether a catalog would take a rules file, before it is put in its place.
 */
@Command(
        name = "check",
        sortOptions = false,
        description = "Checks rules files as a catalog does, and prints the rules of each file, or the first problem, its position and how to fix it. Needs no hosts.")
final class RulesCheckCommand
        implements Callable<Integer>
{
    @Parameters(paramLabel = "FILE", arity = "1..*", description = "on this machine")
    private List<Path> files;

    @Option(
            names = "--output",
            paramLabel = "FORMAT",
            defaultValue = "table",
            description = "table, or json: one object per file and line (default: ${DEFAULT-VALUE})")
    private OutputFormat output = OutputFormat.TABLE;

    private final Console console;

    RulesCheckCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        // one that is not there is a mistake of the command line, and nothing is said of the others then
        Map<Path, byte[]> contents = new LinkedHashMap<>();
        for (Path file : files) {
            try {
                contents.put(file, Files.readAllBytes(file));
            }
            catch (NoSuchFileException _) {
                throw new ClusterFileException("The rules file %s does not exist: name the one of cachedhive.rules-file, which lies on the coordinator.".formatted(file));
            }
            catch (IOException e) {
                throw new ClusterFileException("The rules file %s cannot be read (%s): let its owner run this, or copy it.".formatted(file, e));
            }
        }
        boolean found = false;
        for (Map.Entry<Path, byte[]> content : contents.entrySet()) {
            ObjectNode line = JsonNodeFactory.instance.objectNode();
            line.put("file", content.getKey().toString());
            String said;
            List<String> unreachable = List.of();
            try {
                RulesFile file = RulesParser.parse(content.getValue());
                said = "%s%s%s".formatted(
                        file.rules().size() == 1 ? "1 rule" : file.rules().size() + " rules",
                        file.preloads().isEmpty() ? "" : file.preloads().size() == 1 ? ", 1 preload schedule" : ", %s preload schedules".formatted(file.preloads().size()),
                        file.mode().map(mode -> ", mode " + mode).orElse(""));
                line.put("rules", file.rules().size());
                if (!file.preloads().isEmpty()) {
                    line.put("preloads", file.preloads().size());
                }
                file.mode().ifPresent(mode -> line.put("mode", mode));
                unreachable = file.unreachable().stream().map(Unreachable::problem).toList();
                if (!unreachable.isEmpty()) {
                    found = true;
                    ArrayNode problems = line.putArray("unreachable");
                    unreachable.forEach(problems::add);
                }
            }
            catch (RulesException e) {
                found = true;
                said = e.getMessage() + ".";
                line.put("problem", said);
            }
            if (output == OutputFormat.JSON) {
                console.out().println(line);
                continue;
            }
            console.out().println("%s: %s".formatted(content.getKey(), said));
            unreachable.forEach(problem -> console.out().println("%s: %s.".formatted(content.getKey(), problem)));
        }
        console.out().flush();
        return found ? ExitCode.FOUND : ExitCode.OK;
    }
}
