package io.cachedhive.packages;

import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sizes of memory as configuration, JVM, systemd and Kubernetes write them, in bytes.
 */
final class MemorySizes
{
    /**
     * What the JVM of a cache worker takes beside heap and direct memory: classes, code, threads.
     */
    private static final long JVM_BYTES = 512L << 20;

    private static final Pattern SIZE = Pattern.compile("([0-9]+)(|[kKMGT])(i?B?)");

    private MemorySizes() {}

    static long parse(String size)
    {
        Matcher matcher = SIZE.matcher(size);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(size + " is no size");
        }
        long unit = switch (matcher.group(2)) {
            case "" -> 1;
            case "k", "K" -> 1L << 10;
            case "M" -> 1L << 20;
            case "G" -> 1L << 30;
            default -> 1L << 40;
        };
        return Long.parseLong(matcher.group(1)) * unit;
    }

    /**
     * What a cache worker takes at most: its RAM tier, which counts as memory of whoever wrote it, heap, direct memory, and the JVM.
     */
    static long ofCacheWorker(Properties configuration, List<String> jvmOptions)
    {
        return parse(configuration.getProperty("cache.ram.max-size"))
                + parse(option(jvmOptions, "-Xmx"))
                + parse(option(jvmOptions, "-XX:MaxDirectMemorySize="))
                + JVM_BYTES;
    }

    static String option(List<String> jvmOptions, String prefix)
    {
        return jvmOptions.stream()
                .filter(option -> option.startsWith(prefix))
                .map(option -> option.substring(prefix.length()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no " + prefix));
    }
}
