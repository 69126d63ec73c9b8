package io.cachedhive.admin.settings;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * The properties that there are, as {@code docs/configuration.md} lists them, which a test compares with the code.
 */
public final class KnownProperties
{
    private static final Pattern ROW = Pattern.compile("\\| `([a-z0-9.-]+)` \\|.*");
    private static final Set<String> WRITE_ONLY = Set.of("s3.streaming.part-size", "s3.canned-acl", "s3.storage-class", "s3.sse.kms-key-id");
    private static final KnownProperties INSTANCE = load();

    /// By the section of the page, of its second level.
    private final Map<String, Set<String>> sections = new LinkedHashMap<>();

    private KnownProperties(String page)
    {
        String section = "";
        for (String line : page.lines().toList()) {
            if (line.startsWith("## ")) {
                section = line.substring(3).strip();
            }
            Matcher matcher = ROW.matcher(line);
            if (matcher.matches()) {
                sections.computeIfAbsent(section, _ -> new TreeSet<>()).add(matcher.group(1));
            }
        }
    }

    private static KnownProperties load()
    {
        try (InputStream page = requireNonNull(KnownProperties.class.getResourceAsStream("configuration.md"), "page is missing")) {
            return new KnownProperties(new String(page.readAllBytes(), UTF_8));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Of the cache worker's `config.properties`; airlift has more for HTTP and logging, under `http-server.` and `log.`.
    public static Set<String> ofWorker()
    {
        return requireNonNull(INSTANCE.sections.get("Cache worker"), "section is missing");
    }

    public static Set<String> ofOrigins()
    {
        return requireNonNull(INSTANCE.sections.get("Origins"), "section is missing");
    }

    /// Whether a property of Trino's S3 file system concerns writes only, and means nothing to a cache worker.
    public static boolean isWriteOnly(String name)
    {
        return WRITE_ONLY.contains(name);
    }

    /// Those of a catalog that the Hive connector has not.
    public static Set<String> ofCatalogs()
    {
        return requireNonNull(INSTANCE.sections.get("Catalog"), "section is missing");
    }
}
