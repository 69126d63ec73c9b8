package io.cachedhive.admin.explain;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.cachedhive.admin.output.Quantity;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Properties;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * Describes in sentences what the cache did for a query: a row of {@code system.cache.queries}.
 */
public final class QueryExplanation
{
    // below this fraction of the time of a query, reads cannot have made it slow
    private static final double SMALL_FRACTION = 0.1;
    private static final Properties CAUSES = readCauses();

    private final Map<String, JsonNode> query;

    private enum Source
    {
        RAM_HIT("RAM of the same host"),
        SSD_HIT("SSDs of the same host"),
        NON_LOCAL_HIT("cache workers of other hosts"),
        REMOTE_READ("the object store, into the cache"),
        BYPASS("the object store, bypassing the cache");

        private final String name;

        Source(String name)
        {
            this.name = name;
        }

        String column(String suffix)
        {
            return name().toLowerCase(Locale.ROOT) + suffix;
        }
    }

    /**
     * @param query the values of the row by column
     */
    public QueryExplanation(Map<String, JsonNode> query)
    {
        this.query = requireNonNull(query, "query is null");
    }

    private static Properties readCauses()
    {
        Properties causes = new Properties();
        try (InputStream in = QueryExplanation.class.getResourceAsStream("bypass-causes.properties")) {
            causes.load(new InputStreamReader(requireNonNull(in, "bypass-causes.properties is missing"), UTF_8));
            return causes;
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public List<String> sentences()
    {
        List<String> sentences = new ArrayList<>();
        sentences.add("Query %s of user %s is %s%s after %s.".formatted(
                text("query_id"),
                text("user"),
                text("state"),
                isMissing("error") ? "" : " with the error " + text("error"),
                seconds(number("elapsed_seconds"))));
        sentences.add("It reads %s.".formatted(text("tables").isEmpty() ? "no table of a cachedhive catalog" : text("tables")));
        long bytes = 0;
        for (Source source : Source.values()) {
            bytes += count(source.column("_bytes"));
        }
        if (bytes == 0) {
            sentences.add("No bytes were read through the cache: its scans read nothing, or the mode of the catalog is OFF.");
            return sentences;
        }
        sentences.add("Its scans read %s:".formatted(Quantity.bytes(OptionalLong.of(bytes))));
        for (Source source : Source.values()) {
            long part = count(source.column("_bytes"));
            if (part > 0) {
                sentences.add("  %s (%s) from %s; reads waited %s".formatted(
                        Quantity.bytes(OptionalLong.of(part)),
                        Quantity.percent(OptionalDouble.of((double) part / bytes)),
                        source.name,
                        seconds(number(source.column("_wait_seconds")))));
            }
        }
        sentences.add("The cache saved %s requests to the object store, and %s were made.".formatted(count("saved_requests"), count("spent_requests")));
        sentences.add(verdict(bytes));
        bypassBytesByCause().forEach((cause, part) -> sentences.add("%s bypassed the cache (%s). %s".formatted(
                Quantity.bytes(OptionalLong.of(part)),
                cause,
                CAUSES.getProperty(cause, "See the causes of bypass in the documentation."))));
        return sentences;
    }

    private Map<String, Long> bypassBytesByCause()
    {
        Map<String, Long> causes = new LinkedHashMap<>();
        if (!isMissing("bypass_bytes_by_cause")) {
            for (String cause : text("bypass_bytes_by_cause").split(", ")) {
                String[] parts = cause.split("=", 2);
                causes.put(parts[0], Long.parseLong(parts[1]));
            }
        }
        return causes;
    }

    private long untimedBytes()
    {
        Map<String, Long> causes = bypassBytesByCause();
        return causes.getOrDefault("rule", 0L) + causes.getOrDefault("shadow", 0L);
    }

    private String verdict(long bytes)
    {
        Source slowest = Source.RAM_HIT;
        double sum = 0;
        for (Source source : Source.values()) {
            double wait = number(source.column("_wait_seconds"));
            sum += wait;
            if (wait > number(slowest.column("_wait_seconds"))) {
                slowest = source;
            }
        }
        if (untimedBytes() > SMALL_FRACTION * bytes) {
            return "Reads that a rule bypasses, or in the mode SHADOW, are not timed, so how long they waited is unknown.";
        }
        if (sum <= SMALL_FRACTION * number("elapsed_seconds")) {
            return "Reads hardly waited, so the time was spent elsewhere: EXPLAIN ANALYZE shows where.";
        }
        return switch (slowest) {
            case RAM_HIT, SSD_HIT -> "Reads waited most for the cache worker of their host: check the load of the hosts and of their SSDs.";
            case NON_LOCAL_HIT -> "Reads waited most for cache workers of other hosts: check the load of the hosts and of the network.";
            case REMOTE_READ -> "Reads waited most for data that was not cached: it is cached now, unless it was evicted. Preload it, or see cache.sizing.";
            case BYPASS -> "Reads waited most for data that bypassed the cache:";
        };
    }

    // an extension of another release may lack a column
    private JsonNode value(String column)
    {
        return query.getOrDefault(column, MissingNode.getInstance());
    }

    private boolean isMissing(String column)
    {
        return value(column).isNull() || value(column).isMissingNode();
    }

    private String text(String column)
    {
        return value(column).asText();
    }

    private long count(String column)
    {
        return value(column).asLong();
    }

    private double number(String column)
    {
        return value(column).asDouble();
    }

    private static String seconds(double value)
    {
        return String.format(Locale.ROOT, "%.1f s", value);
    }
}
