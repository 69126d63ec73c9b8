package io.cachedhive.hive.conformance;

import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

import javax.xml.parsers.DocumentBuilderFactory;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writes {@code docs/conformance.md} from the reports of a run with the profile {@code conformance}.
 * It is started from its source file by {@code bin/conformance-report}, so it uses nothing but the JDK, of any version from 17.
 */
public final class ConformanceReport
{
    private static final Pattern REPORT_FILE = Pattern.compile("TEST-.*\\.conformance\\.Test(PlainHive|CachedHive)(\\w+)\\.xml");
    private static final Pattern OVERRIDDEN_TEST = Pattern.compile("@Test\\s+@Override\\s+public void (\\w+)\\(");
    private static final Pattern BASE_CLASS = Pattern.compile("\\sextends (\\w+)");
    private static final Pattern BYTES_BY_SOURCE = Pattern.compile(
            "Bytes requested: (\\d+), RAM hit: (\\d+), SSD hit: (\\d+), non-local hit: (\\d+), remote read: (\\d+), bypass: (\\d+)");
    private static final String SOURCES = "plugin-cachedhive/src/test/java/io/cachedhive/hive/conformance";

    // in the order in which one outcome hides another, where a test runs several times
    private enum Outcome
    {
        PASSED, SKIPPED, FAILED;

        @Override
        public String toString()
        {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private record Run(Map<String, Outcome> outcomes, double seconds, List<String> bytesBySource)
    {
        long count(Outcome outcome)
        {
            return outcomes.values().stream().filter(outcome::equals).count();
        }
    }

    private record Suite(String name, String base, Set<String> overridden, Map<String, Run> runs)
    {
        List<String> tests()
        {
            Set<String> tests = new TreeSet<>();
            runs.values().forEach(run -> tests.addAll(run.outcomes().keySet()));
            return List.copyOf(tests);
        }

        String outcome(String connector, String test)
        {
            Run run = runs.get(connector);
            if (run == null || !run.outcomes().containsKey(test)) {
                return "not run";
            }
            return run.outcomes().get(test).toString();
        }

        List<String> differences()
        {
            return tests().stream()
                    .filter(test -> !outcome("hive", test).equals(outcome("cachedhive", test)))
                    .toList();
        }

        boolean hasFailures()
        {
            return runs.values().stream().anyMatch(run -> run.count(Outcome.FAILED) > 0);
        }
    }

    private ConformanceReport() {}

    public static void main(String[] args)
            throws Exception
    {
        Path root = Path.of(args.length > 0 ? args[0] : ".");
        List<Suite> suites = readSuites(root);
        if (suites.isEmpty()) {
            System.err.println("no reports of the suites in plugin-cachedhive/target/surefire-reports: run mvn verify -Pexhaustive first");
            System.exit(1);
        }
        Path document = root.resolve("docs/conformance.md");
        Files.createDirectories(document.getParent());
        Files.writeString(document, toMarkdown(suites));
        System.out.println("wrote " + document.normalize());
        if (suites.stream().anyMatch(suite -> suite.hasFailures() || !suite.differences().isEmpty())) {
            System.err.println("the connectors differ, or a test failed: see " + document.normalize());
            System.exit(1);
        }
    }

    private static List<Suite> readSuites(Path root)
            throws Exception
    {
        Map<String, Map<String, Run>> runs = new TreeMap<>();
        Path reports = root.resolve("plugin-cachedhive/target/surefire-reports");
        if (!Files.isDirectory(reports)) {
            return List.of();
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(reports, "TEST-*.xml")) {
            for (Path file : files) {
                Matcher matcher = REPORT_FILE.matcher(file.getFileName().toString());
                if (matcher.matches()) {
                    runs.computeIfAbsent(matcher.group(2), name -> new TreeMap<>())
                            .put(matcher.group(1).equals("PlainHive") ? "hive" : "cachedhive", readRun(file));
                }
            }
        }
        List<Suite> suites = new ArrayList<>();
        for (Map.Entry<String, Map<String, Run>> entry : runs.entrySet()) {
            suites.add(readSuite(root.resolve(SOURCES), entry.getKey(), entry.getValue()));
        }
        return suites;
    }

    /** Follows the abstract class of a suite up to the class of Trino's that it is made of. */
    private static Suite readSuite(Path sources, String name, Map<String, Run> runs)
            throws IOException
    {
        Set<String> overridden = new TreeSet<>();
        String base = "AbstractHive" + name;
        while (Files.exists(sources.resolve(base + ".java"))) {
            String source = Files.readString(sources.resolve(base + ".java"));
            Matcher tests = OVERRIDDEN_TEST.matcher(source);
            while (tests.find()) {
                overridden.add(tests.group(1));
            }
            Matcher parent = BASE_CLASS.matcher(source);
            if (!parent.find()) {
                throw new IllegalStateException("no base class in " + base);
            }
            base = parent.group(1);
        }
        return new Suite(name, base, overridden, runs);
    }

    private static Run readRun(Path report)
            throws Exception
    {
        Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(report.toFile());
        Map<String, Outcome> outcomes = new TreeMap<>();
        NodeList tests = document.getElementsByTagName("testcase");
        for (int i = 0; i < tests.getLength(); i++) {
            Element test = (Element) tests.item(i);
            // a repeated test is reported as name()[1], name()[2], ...
            String name = test.getAttribute("name").replaceFirst("\\(.*", "");
            if (name.isEmpty()) {
                // the class itself failed, before or after its tests
                name = "(set-up or tear-down)";
            }
            outcomes.merge(name, outcome(test), (first, second) -> first.compareTo(second) >= 0 ? first : second);
        }
        return new Run(
                outcomes,
                Double.parseDouble(document.getDocumentElement().getAttribute("time").replace(",", "")),
                bytesBySource(report));
    }

    /** What the suite's cache worker counted, from the suite's log beside the report; empty over plain Hive. */
    private static List<String> bytesBySource(Path report)
            throws IOException
    {
        String name = report.getFileName().toString();
        Path output = report.resolveSibling(name.substring("TEST-".length(), name.length() - ".xml".length()) + "-output.txt");
        if (!Files.exists(output)) {
            return List.of();
        }
        Matcher matcher = BYTES_BY_SOURCE.matcher(Files.readString(output));
        if (!matcher.find()) {
            return List.of();
        }
        List<String> bytes = new ArrayList<>();
        for (int i = 1; i <= matcher.groupCount(); i++) {
            bytes.add(matcher.group(i));
        }
        return bytes;
    }

    private static Outcome outcome(Element test)
    {
        if (test.getElementsByTagName("failure").getLength() > 0 || test.getElementsByTagName("error").getLength() > 0) {
            return Outcome.FAILED;
        }
        return test.getElementsByTagName("skipped").getLength() > 0 ? Outcome.SKIPPED : Outcome.PASSED;
    }

    private static String toMarkdown(List<Suite> suites)
            throws IOException
    {
        StringBuilder out = new StringBuilder();
        out.append("""
                <!-- Generated by bin/conformance-report; do not edit. -->

                # Conformance

                These are Trino's own test suites, over its Hive connector and over cachedhive with a cache worker and the cache on.
                Both run the same tests on the same S3 server, with a file metastore. Trino does not publish the tests of its Hive
                connector, so running the suites showed which features Hive does not support. The abstract classes under
                `%s`
                declare each of them with its reason. These classes do not depend on the cache.

                `bin/conformance-report` generates this page from the reports of `mvn verify -Pexhaustive`, last on %s with Trino 483.
                *skipped* means that the connector is declared not to support the tested feature. A repeated test counts once.
                A test with * asserts the behavior of Hive instead of the behavior that the suite expects.

                ## Suites

                | suite | Trino's class | connector | tests | passed | skipped | failed | seconds |
                |---|---|---|--:|--:|--:|--:|--:|
                """.formatted(SOURCES, LocalDate.now(ZoneOffset.UTC)));
        for (Suite suite : suites) {
            suite.runs().forEach((connector, run) -> out.append("| %s | `%s` | %s | %d | %d | %d | %d | %.0f |\n".formatted(
                    suite.name(),
                    suite.base(),
                    connector,
                    run.outcomes().size(),
                    run.count(Outcome.PASSED),
                    run.count(Outcome.SKIPPED),
                    run.count(Outcome.FAILED),
                    run.seconds())));
        }
        out.append("""

                ## Sources of the bytes

                The table has the bytes that each suite over cachedhive read. The RAM tier is small, so long suites also
                read from SSD. Reads of a file that is younger than 2 s are remote reads, because it is not shared yet.

                | suite | requested | RAM hit | SSD hit | non-local hit | remote read | bypass |
                |---|--:|--:|--:|--:|--:|--:|
                """);
        for (Suite suite : suites) {
            Run run = suite.runs().get("cachedhive");
            if (run != null && !run.bytesBySource().isEmpty()) {
                out.append("| %s | %s |\n".formatted(suite.name(), String.join(" | ", run.bytesBySource())));
            }
        }
        out.append("\n## Differences between the connectors\n\n");
        long differences = suites.stream().mapToLong(suite -> suite.differences().size()).sum();
        if (differences == 0) {
            out.append("None.\n");
        }
        else {
            out.append("| suite | test | hive | cachedhive |\n|---|---|---|---|\n");
            for (Suite suite : suites) {
                suite.differences().forEach(test -> out.append("| %s | %s | %s | %s |\n".formatted(
                        suite.name(), test, suite.outcome("hive", test), suite.outcome("cachedhive", test))));
            }
        }
        for (Suite suite : suites) {
            out.append("\n## %s\n\n| test | hive | cachedhive |\n|---|---|---|\n".formatted(suite.name()));
            suite.tests().forEach(test -> out.append("| %s%s | %s | %s |\n".formatted(
                    test,
                    suite.overridden().contains(test) ? " *" : "",
                    suite.outcome("hive", test),
                    suite.outcome("cachedhive", test))));
        }
        return out.toString();
    }
}
