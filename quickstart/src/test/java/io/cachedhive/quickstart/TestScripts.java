package io.cachedhive.quickstart;

import io.cachedhive.testing.cluster.home.Distribution;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.attribute.PosixFilePermissions.asFileAttribute;
import static java.nio.file.attribute.PosixFilePermissions.fromString;
import static org.assertj.core.api.Assertions.assertThat;

final class TestScripts
{
    private static final Path BIN = Distribution.find().root().resolve("bin");

    @TempDir
    private Path directory;

    @Test
    void testJavaHomeIsTakenIfItIsNewEnough()
            throws Exception
    {
        Path old = jdk("old", "17.0.15");
        Path current = jdk("current", "25.0.3");
        Path next = jdk("next", "26");
        assertThat(findJdk(Map.of("JAVA_HOME", current.toString()))).isEqualTo(current.toString());
        assertThat(findJdk(Map.of("JAVA_HOME", next.toString()))).isEqualTo(next.toString());
        assertThat(findJdk(Map.of("JAVA_HOME", old.toString(), "JDK_HOME", current.toString()))).isEqualTo(current.toString());
        assertThat(findJdk(Map.of("JAVA_HOME", directory.resolve("absent").toString(), "JAVA25_HOME", current.toString()))).isEqualTo(current.toString());
    }

    @Test
    void testJreAndUnknownVersionAreNotTaken()
            throws Exception
    {
        Path current = jdk("current", "25.0.3");
        Path jre = jdk("jre", "25.0.3");
        Files.delete(jre.resolve("bin/javac"));
        Path strange = jdk("strange", "25.0.3");
        Files.writeString(strange.resolve("release"), "IMPLEMENTOR=\"somebody\"\n");
        assertThat(findJdk(Map.of("JAVA_HOME", jre.toString(), "JDK_HOME", strange.toString(), "JAVA25_HOME", current.toString()))).isEqualTo(current.toString());
    }

    @Test
    void testHelpFromAnyDirectoryAndThroughALink()
            throws Exception
    {
        Path link = Files.createSymbolicLink(directory.resolve("link"), BIN.resolve("quickstart"));
        String usage = Files.readString(BIN.resolve("../quickstart/src/main/resources/quickstart-usage.txt"));
        assertThat(run(Map.of(), link.toString(), "--help")).isEqualTo(usage);
    }

    private Path jdk(String name, String version)
            throws IOException
    {
        Path home = directory.resolve(name);
        Files.createDirectories(home.resolve("bin"));
        Files.createFile(home.resolve("bin/javac"), asFileAttribute(fromString("rwxr-xr-x")));
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"somebody\"\nJAVA_VERSION=\"%s\"\n".formatted(version));
        return home;
    }

    private String findJdk(Map<String, String> environment)
            throws Exception
    {
        return run(environment, "bash", "-euo", "pipefail", "-c", "source '%s'; find_jdk".formatted(BIN.resolve("jdk.bash"))).strip();
    }

    private String run(Map<String, String> environment, String... command)
            throws Exception
    {
        ProcessBuilder builder = new ProcessBuilder(List.of(command)).directory(directory.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeAll(List.of("JAVA_HOME", "JDK_HOME", "JAVA25_HOME"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
