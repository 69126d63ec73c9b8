package io.cachedhive.benchmark.queries;

import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

import static io.cachedhive.benchmark.queries.Phase.COLD;
import static io.cachedhive.benchmark.queries.Phase.WARM;
import static java.util.Locale.ROOT;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * Shows the passes of a benchmark to people: plots, and a page with the plots and a table of medians.
 */
public final class QueryReport
{
    private static final int WIDTH = 1200;
    private static final int HEIGHT = 480;
    private static final int ROTATED = 45;

    private final List<Pass> passes;
    private final String command;

    /**
     * @param command that was measured
     */
    public QueryReport(List<Pass> passes, String command)
    {
        this.passes = List.copyOf(passes);
        this.command = requireNonNull(command, "command is null");
    }

    private enum Plot
    {
        COLD_TIME("Time of the first pass", COLD, Pass::wallMillis),
        WARM_TIME("Time of a warm pass", WARM, Pass::wallMillis),
        WARM_CPU("CPU time of a warm pass", WARM, Pass::cpuMillis),
        WARM_GETS("GET requests of a warm pass", WARM, Pass::gets);

        private final String title;
        private final Phase phase;
        @SuppressWarnings("ImmutableEnumChecker") // keeps nothing
        private final ToDoubleFunction<Pass> value;

        Plot(String title, Phase phase, ToDoubleFunction<Pass> value)
        {
            this.title = title;
            this.phase = phase;
            this.value = value;
        }

        String fileName(StoreProfile profile)
        {
            return "queries-%s-%s.png".formatted(profile, name().toLowerCase(ROOT).replace('_', '-'));
        }
    }

    /**
     * Writes the plots as PNG files, and {@code queries.html}.
     */
    public void write(Path directory)
            throws IOException
    {
        Files.createDirectories(directory);
        List<StoreProfile> profiles = passes.stream().map(Pass::profile).distinct().sorted().toList();
        StringBuilder page = new StringBuilder("""
                <!DOCTYPE html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width">
                <title>Queries by cachedhive and its alternatives</title>
                <style>body{font-family:sans-serif;margin:2em}table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:.2em .6em;text-align:right}\
                td:first-child,th:first-child{text-align:left}img{max-width:100%}</style>
                </head>
                <body>
                <h1>Queries by cachedhive and its alternatives</h1>
                """);
        page.append("<p>Medians of all runs of <code>").append(escape(command)).append("</code>.</p>\n");
        for (StoreProfile profile : profiles) {
            page.append("<h2>Profile of the object store: ").append(profile).append("</h2>\n");
            for (Plot plot : Plot.values()) {
                BitmapEncoder.saveBitmap(chart(plot, profile), directory.resolve(plot.fileName(profile)).toString(), BitmapFormat.PNG);
                page.append("<h3>%1$s</h3>\n<p><img alt=\"%1$s, plain Hive is 1\" src=\"%2$s\"></p>\n".formatted(plot.title, plot.fileName(profile)));
                page.append(table(plot, profile));
            }
        }
        page.append("</body>\n</html>\n");
        Files.writeString(directory.resolve("queries.html"), page);
    }

    private List<String> workloads(StoreProfile profile)
    {
        return passes.stream().filter(pass -> pass.profile() == profile).map(Pass::workload).distinct().toList();
    }

    private CategoryChart chart(Plot plot, StoreProfile profile)
    {
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title("%s, object store: %s".formatted(plot.title, profile))
                .yAxisTitle("plain Hive is 1")
                .build();
        chart.getStyler().setLegendPosition(LegendPosition.OutsideE);
        chart.getStyler().setXAxisLabelRotation(ROTATED).setYAxisMin(0.0);
        List<String> workloads = workloads(profile);
        for (Contender contender : Contender.values()) {
            chart.addSeries(contender.title(), workloads, workloads.stream()
                    .map(workload -> {
                        double hive = median(plot, profile, workload, Contender.HIVE).orElse(0);
                        return hive == 0 ? 0.0 : median(plot, profile, workload, contender).orElse(0) / hive;
                    })
                    .toList());
        }
        return chart;
    }

    private String table(Plot plot, StoreProfile profile)
    {
        StringBuilder table = new StringBuilder("<table>\n<tr><th>Workload</th>");
        for (Contender contender : Contender.values()) {
            table.append("<th>").append(contender.title()).append("</th>");
        }
        table.append("</tr>\n");
        for (String workload : workloads(profile)) {
            table.append("<tr><td>").append(workload).append("</td>");
            table.append(Arrays.stream(Contender.values())
                    .map(contender -> median(plot, profile, workload, contender))
                    .map(median -> "<td>%s</td>".formatted(median.isPresent() ? String.format(ROOT, plot == Plot.WARM_GETS ? "%.0f" : "%.0f ms", median.getAsDouble()) : ""))
                    .collect(joining()));
            table.append("</tr>\n");
        }
        return table.append("</table>\n").toString();
    }

    private OptionalDouble median(Plot plot, StoreProfile profile, String workload, Contender contender)
    {
        double[] values = passes.stream()
                .filter(pass -> pass.profile() == profile && pass.workload().equals(workload) && pass.contender() == contender && pass.phase() == plot.phase && !pass.listed())
                .mapToDouble(plot.value)
                .sorted()
                .toArray();
        if (values.length == 0) {
            return OptionalDouble.empty();
        }
        int middle = values.length / 2;
        return OptionalDouble.of(values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2);
    }

    private static String escape(String text)
    {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
