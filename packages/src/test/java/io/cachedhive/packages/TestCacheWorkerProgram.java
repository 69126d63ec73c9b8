package io.cachedhive.packages;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static io.cachedhive.packages.BuiltPackages.ROOT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the program {@code cache-worker} makes of its arguments, its files and the Java that there is. Which Java there is decides the test: the places where the
 * program looks are moved to a directory of it.
 */
@Tag("slow")
class TestCacheWorkerProgram
{
    private static final String JAVA_PLACES = "(/usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* /opt/jre*)";

    @TempDir
    private Path directory;

    private Path program;

    private record Ended(int code, String output, String error) {}

    @BeforeEach
    void install()
            throws IOException
    {
        Path home = Files.createDirectories(directory.resolve("home"));
        String text = Files.readString(ROOT.resolve("cache-worker-daemon/src/main/package/bin/cache-worker"));
        assertThat(text).containsOnlyOnce(JAVA_PLACES);
        program = Files.createDirectories(home.resolve("bin")).resolve("cache-worker");
        Files.writeString(program, text.replace(JAVA_PLACES, "('%s'/jvm/*)".formatted(directory)));
        executable(program);

        Path etc = Files.createDirectories(home.resolve("etc"));
        Files.writeString(etc.resolve("config.properties"), "cache.ram.max-size=1GB\n");
        Files.writeString(etc.resolve("log.properties"), "io.cachedhive=INFO\n");
        Files.writeString(etc.resolve("jvm.config"), "-server\n\n  -Xmx1G\n# not this\n");
        Files.writeString(etc.resolve("node.properties"), "# who\nnode.environment=test\n  node.id=with space\n");
    }

    @Test
    void testRuns()
            throws Exception
    {
        Path home = directory.resolve("home").toRealPath();
        Ended ended = run(Map.of("JAVA_HOME", java("jdk", "25.0.1").toString()), "run", "-Dcache.ram.max-size=2GB");
        assertThat(ended.code()).describedAs(ended.error()).isEqualTo(0);
        assertThat(ended.output().lines()).containsExactly(
                "cwd " + home,
                "-cp",
                home + "/lib/*",
                "-server",
                "-Xmx1G",
                "-Dnode.environment=test",
                "-Dnode.id=with space",
                "-Dnode.data-dir=" + home,
                "-Dconfig=" + home + "/etc/config.properties",
                "-Dlog.levels-file=" + home + "/etc/log.properties",
                "-Dcache.ram.max-size=2GB",
                "io.cachedhive.worker.CacheWorker");
    }

    @Test
    void testConfigurationAndDataElsewhere()
            throws Exception
    {
        Path etc = directory.resolve("home/etc").toRealPath();
        Path data = Files.createDirectories(directory.resolve("data")).toRealPath();
        String java = java("jdk", "26").toString();
        Ended ended = run(Map.of("JAVA_HOME", java), "run", "--etc-dir", etc.toString(), "--data-dir", data.toString());
        assertThat(ended.code()).describedAs(ended.error()).isEqualTo(0);
        assertThat(ended.output().lines()).contains("cwd " + data, "-Dnode.data-dir=" + data, "-Dconfig=" + etc + "/config.properties");
        // so that cache.origins-directory=etc/origins is found
        assertThat(Files.readSymbolicLink(data.resolve("etc"))).isEqualTo(etc);

        // without the option, what the configuration says
        Files.writeString(etc.resolve("node.properties"), "node.environment=test\nnode.data-dir=%s\n".formatted(data));
        assertThat(run(Map.of("JAVA_HOME", java), "run").output().lines()).contains("cwd " + data);

        Files.delete(data.resolve("etc"));
        Files.createDirectories(data.resolve("etc"));
        assertFails(run(Map.of("JAVA_HOME", java), "run"), data + "/etc is to lead to " + etc + ", and is something else: remove it");
    }

    /**
     * The hook of a pod calls it beside the cache worker, within the same memory limit.
     */
    @Test
    void testDrain()
            throws Exception
    {
        Path etc = directory.resolve("home/etc").toRealPath();
        Ended ended = run(
                Map.of("JAVA_HOME", java("jdk", "25").toString()),
                "drain", "--etc-dir", etc.toString(), "--data-dir", directory.toString(), "--address", "127.0.0.1", "--deadline", "45s");
        assertThat(ended.code()).describedAs(ended.error()).isEqualTo(0);
        assertThat(ended.output().lines())
                .contains("-Xmx64m", "-Dconfig=" + etc + "/config.properties")
                .endsWith("io.cachedhive.worker.command.DrainCommand", "--address", "127.0.0.1", "--deadline", "45s");
    }

    @Test
    void testFindsJava()
            throws Exception
    {
        java("jvm/a", "17.0.15");
        Path newer = java("jvm/b", "25");
        Ended ended = run(Map.of("JAVA_HOME", java("old", "21").toString()), "run");
        assertThat(ended.code()).describedAs(ended.error()).isEqualTo(0);
        assertThat(ended.error()).contains("java of " + newer);
    }

    @Test
    void testNoJava()
            throws Exception
    {
        assertFails(run(Map.of(), "run"), "needs Java 25 or newer, and there is no Java on this host: install one, or name its directory in JAVA_HOME.");

        Path old = java("jvm/old", "21.0.2");
        Ended ended = run(Map.of("JAVA_HOME", directory.resolve("nothing").toString()), "run");
        assertFails(ended, "needs Java 25 or newer, and there is none on this host");
        assertThat(ended.error())
                .contains("JAVA_HOME=%s has no bin/java".formatted(directory.resolve("nothing")))
                .contains(old + " is version 21");
    }

    @Test
    void testWrongUsage()
            throws Exception
    {
        Map<String, String> environment = Map.of("JAVA_HOME", java("jdk", "25").toString());
        String none = directory.resolve("none").toString();
        assertFails(run(environment, "run", "--etc-dir", none), "config.properties cannot be read: name the directory of the configuration with --etc-dir");
        assertFails(run(environment, "run", "--data-dir", none), "is not a directory that this user may write to");
        assertFails(run(environment, "run", "--data-dir"), "--data-dir needs a directory");
        assertFails(run(environment, "run", "--fast"), "run does not know --fast");
        assertFails(run(environment, "version"), "VERSION is missing");
        assertThat(run(environment).code()).isEqualTo(2);
        Files.writeString(directory.resolve("home/etc/node.properties"), "environment\n");
        assertFails(run(environment, "run"), "node.properties: 'environment' is not name=value");
    }

    private static void assertFails(Ended ended, String reason)
    {
        assertThat(ended.error()).contains(reason);
        assertThat(ended.code()).isEqualTo(2);
        assertThat(ended.output()).isEmpty();
    }

    /**
     * A Java that says where and with what it was called.
     */
    private Path java(String name, String version)
            throws IOException
    {
        Path home = directory.resolve(name);
        Path bin = Files.createDirectories(home.resolve("bin"));
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"%s\"\n".formatted(version));
        Files.writeString(bin.resolve("java"), "#!/bin/bash\necho \"java of %s\" >&2\necho \"cwd $PWD\"\nprintf '%%s\\n' \"$@\"\n".formatted(home));
        executable(bin.resolve("java"));
        return home;
    }

    private static void executable(Path file)
    {
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    private Ended run(Map<String, String> environment, String... arguments)
            throws Exception
    {
        // a path with what the program uses, and without any java
        Path bin = Files.createDirectories(directory.resolve("path"));
        for (String command : List.of("bash", "cat", "dirname", "env", "ln", "paste", "readlink", "sed", "sort")) {
            Path target = List.of("/bin", "/usr/bin").stream().map(place -> Path.of(place, command)).filter(Files::exists).findFirst().orElseThrow();
            if (Files.notExists(bin.resolve(command))) {
                Files.createSymbolicLink(bin.resolve(command), target);
            }
        }
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        Path error = directory.resolve("error");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(error.toFile());
        builder.environment().clear();
        builder.environment().putAll(environment);
        builder.environment().put("PATH", bin.toString());
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes());
        return new Ended(process.waitFor(), output, Files.readString(error));
    }
}
