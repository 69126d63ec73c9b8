package io.cachedhive.packages;

import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.protocol.wire.Message;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;

import static java.util.stream.Collectors.joining;

/**
 * What a release is, and what it understands of others: the file {@code VERSION} of the packages, taken from the code that is in them.
 */
final class ReleaseVersions
{
    private ReleaseVersions() {}

    static Map<String, String> of(String version, String trinoVersion)
    {
        Map<String, String> versions = new LinkedHashMap<>();
        versions.put("version", version);
        versions.put("trino.version", trinoVersion);
        versions.put("java.oldest", Integer.toString(compiledFor()));
        versions.put("wire.protocol.oldest", Integer.toString(Message.MIN_VERSION));
        versions.put("wire.protocol.newest", Integer.toString(Message.MAX_VERSION));
        versions.put("ssd.format.oldest", Integer.toString(SsdFormat.CURRENT.oldest()));
        versions.put("ssd.format.newest", Integer.toString(SsdFormat.CURRENT.newest()));
        versions.put("shared-memory.layout", Integer.toString(MemoryLayout.LAYOUT_VERSION));
        return versions;
    }

    /**
     * The oldest Java that runs the classes of this project, as they say it themselves.
     */
    private static int compiledFor()
    {
        try (DataInputStream input = new DataInputStream(ReleaseVersions.class.getResourceAsStream("ReleaseVersions.class"))) {
            input.skipNBytes(Integer.BYTES + Short.BYTES);
            // Java 1.0 had 45
            return input.readUnsignedShort() - 44;
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * As {@link Properties} and shells read it.
     */
    static String format(Map<String, String> versions)
    {
        return versions.entrySet().stream()
                .map(entry -> "%s=%s\n".formatted(entry.getKey(), entry.getValue()))
                .collect(joining());
    }
}
