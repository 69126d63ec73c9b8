package io.cachedhive.testing.cluster.home;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class TestPackagedProperties
{
    @TempDir
    private Path directory;

    @Test
    void testValuesReplaceAndComplete()
            throws Exception
    {
        Path file = directory.resolve("config.properties");
        Files.writeString(file, """
                # a comment about port=1
                port=8484
                #directories=/mnt
                size = 1GB
                group=trino
                """);
        Map<String, String> values = new LinkedHashMap<>();
        values.put("port", "9");
        values.put("size", "2GB");
        values.put("directories", "/tmp/a,/tmp/b");
        values.put("group", "");
        values.put("unset", "");
        assertThat(PackagedProperties.read(file).with(values)).isEqualTo("""
                # a comment about port=1
                port=9
                #directories=/mnt
                size=2GB
                directories=/tmp/a,/tmp/b
                """);
    }

    @Test
    void testFileMayBeAbsent()
            throws Exception
    {
        assertThat(PackagedProperties.read(directory.resolve("absent")).with(Map.of("a", "b"))).isEqualTo("a=b\n");
    }
}
