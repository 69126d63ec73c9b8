package io.cachedhive.admin;

import io.airlift.units.DataSize;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.explain.KnownScan;
import io.cachedhive.rules.Rule;
import io.cachedhive.rules.RulesException;
import io.cachedhive.rules.RulesFile;
import io.cachedhive.rules.RulesParser;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Shows which rule of a file decides for a scan.
 */
@Command(
        name = "explain",
        sortOptions = false,
        description = {
                "Shows which rule of a rules file decides for the splits of a scan, and why the rules before it do not. Needs no hosts.",
                "If a rule has a condition on an unspecified property, it may decide; the output names the options to add."})
final class RulesExplainCommand
        implements Callable<Integer>
{
    @Parameters(paramLabel = "FILE", description = "rules file on this machine")
    private Path file;

    @Option(names = "--table", required = true, paramLabel = "SCHEMA.TABLE", description = "table of the scan")
    private String table;

    @Option(names = "--user", paramLabel = "NAME", description = "user of the query")
    private String user;

    @Option(names = "--source", paramLabel = "NAME", description = "source of the query, as the client sets it")
    private String source;

    @Option(names = "--client-tags", split = ",", paramLabel = "TAG", description = "tags of the query")
    private Set<String> clientTags;

    @Option(names = "--size", paramLabel = "SIZE", description = "size of the file, such as 2GB")
    private String size;

    @Option(names = "--scan-bytes", paramLabel = "SIZE", description = "bytes of the scan up to and including the split, such as 1TB")
    private String scanBytes;

    @Option(names = "--partition", split = ",", paramLabel = "COLUMN=VALUE", description = "values of the partition columns, such as ds=2024-03-08")
    private List<String> partition;

    private final Console console;

    RulesExplainCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        KnownScan scan = scan();
        RulesFile rules;
        try {
            rules = RulesParser.parse(Files.readAllBytes(file));
        }
        catch (IOException e) {
            throw new ClusterFileException("The rules file %s cannot be read (%s): name a file that you can read.".formatted(file, e));
        }
        catch (RulesException e) {
            console.problem("%s: %s.".formatted(file, e.getMessage()));
            return ExitCode.FOUND;
        }
        console.out().println(explain(rules, scan));
        console.out().flush();
        return ExitCode.OK;
    }

    private static String explain(RulesFile rules, KnownScan scan)
    {
        StringBuilder lines = new StringBuilder();
        boolean certain = true;
        for (Rule rule : rules.rules()) {
            Optional<String> mismatch = scan.mismatch(rule.conditions(), Instant.now());
            List<String> missing = scan.missing(rule.conditions());
            if (mismatch.isPresent()) {
                lines.append("%s: does not match, because of %s%n".formatted(rule.name(), mismatch.get()));
            }
            else if (!missing.isEmpty() || isSample(rule)) {
                lines.append("%s: may match (action %s)%s%s%n".formatted(
                        rule.name(),
                        action(rule),
                        isSample(rule) ? ", because it matches a sample of the files" : "",
                        missing.isEmpty() ? "" : "; add " + String.join(", ", missing)));
                certain = false;
            }
            else {
                return lines.append("%s: %s (action %s)".formatted(rule.name(), certain ? "decides" : "decides, if no rule above matches", action(rule))).toString();
            }
        }
        return lines.append("%s: %s (action cache)".formatted(RulesParser.DEFAULT_NAME, certain ? "decides" : "decides, if no rule above matches")).toString();
    }

    private static boolean isSample(Rule rule)
    {
        return rule.conditions().sample().isPresent() && rule.conditions().sample().getAsDouble() < 1;
    }

    private static String action(Rule rule)
    {
        return rule.action().name().toLowerCase(Locale.ROOT);
    }

    private KnownScan scan()
    {
        int dot = table.indexOf('.');
        if (dot < 1 || dot == table.length() - 1) {
            throw new WrongUsageException("%s is no table: write it as SCHEMA.TABLE.".formatted(table));
        }
        return new KnownScan(
                table.substring(0, dot).toLowerCase(Locale.ENGLISH),
                table.substring(dot + 1).toLowerCase(Locale.ENGLISH),
                Optional.ofNullable(user),
                Optional.ofNullable(source),
                Optional.ofNullable(clientTags),
                bytes("--size", size),
                bytes("--scan-bytes", scanBytes),
                Optional.ofNullable(partition).map(RulesExplainCommand::partitionValues));
    }

    private static OptionalLong bytes(String option, String text)
    {
        if (text == null) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(DataSize.valueOf(text).toBytes());
        }
        catch (IllegalArgumentException _) {
            throw new WrongUsageException("%s is %s: write a size, such as 2GB.".formatted(option, text));
        }
    }

    private static Map<String, String> partitionValues(List<String> parts)
    {
        Map<String, String> values = new LinkedHashMap<>();
        for (String part : parts) {
            int equals = part.indexOf('=');
            if (equals < 1) {
                throw new WrongUsageException("--partition has %s: write each as COLUMN=VALUE.".formatted(part));
            }
            values.put(part.substring(0, equals).toLowerCase(Locale.ENGLISH), part.substring(equals + 1));
        }
        return values;
    }
}
