package io.cachedhive.worker;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * In JVMs of their own, since it is the JVM that makes the archive and that has to take it.
 */
@Timeout(240)
@Tag("slow")
class TestClassArchive
{
    @TempDir
    private Path directory;

    private Path classes;

    @BeforeEach
    void setUp()
            throws IOException
    {
        // the JVM archives classes of jars only
        classes = directory.resolve("classes.jar");
        jar(classes);
    }

    @Test
    void testNoneAskedFor()
            throws Exception
    {
        assertThat(ClassArchive.of(List.of("-Xmx1G", "-server"), directory)).isEmpty();
    }

    @Test
    void testMadeOnceAndUsed()
            throws Exception
    {
        Path archive = directory.resolve("state").resolve("classes.jsa");
        assertThat(start("state/classes.jsa")).contains("made").doesNotContain("error");
        assertThat(archive).isRegularFile();
        assertThat(Files.readString(directory.resolve("state/classes.jsa.of"))).contains(System.getProperty("java.vm.version"), classes.toString());
        assertThat(left()).as("what the JVM leaves").containsExactlyInAnyOrder("classes.jar", "state");

        assertThat(start("state/classes.jsa")).contains("current", ClassArchive.class.getName() + " source: shared objects file");

        // of other libraries: the JVM goes on without it, and it is made anew
        Files.delete(classes);
        jar(classes);
        // which the JVM knows by their size and the second in which they were written
        Files.setLastModifiedTime(classes, FileTime.from(Instant.now().plusSeconds(5)));
        assertThat(start("state/classes.jsa")).contains("made").doesNotContain(ClassArchive.class.getName() + " source: shared objects file");
        assertThat(start("state/classes.jsa")).contains("current", ClassArchive.class.getName() + " source: shared objects file");

        Files.writeString(archive, "no archive");
        assertThat(start("state/classes.jsa")).as("damaged").contains("made");
    }

    @Test
    void testNoPlaceForIt()
            throws Exception
    {
        Files.writeString(directory.resolve("state"), "a file");
        assertThat(start("state/classes.jsa")).contains("not made: java.nio.file.FileAlreadyExistsException");
    }

    private List<String> left()
            throws IOException
    {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    private String start(String archive)
            throws IOException, InterruptedException
    {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:SharedArchiveFile=" + archive));
        // as shipped
        command.addAll(List.of("-Xlog:cds=off", "-Xlog:aot=off", "-Xlog:class+load"));
        List<String> path = new ArrayList<>(List.of(classes.toString()));
        path.addAll(entries().filter(entry -> entry.toString().endsWith(".jar")).map(Path::toString).toList());
        command.addAll(List.of("-cp", String.join(File.pathSeparator, path), Main.class.getName()));
        Process process = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    private static Stream<Path> entries()
    {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of);
    }

    private static void jar(Path target)
            throws IOException
    {
        try (OutputStream out = Files.newOutputStream(target); JarOutputStream jar = new JarOutputStream(out)) {
            for (Class<?> type : List.of(ClassArchive.class, Main.class)) {
                String name = type.getName().replace('.', '/') + ".class";
                jar.putNextEntry(new JarEntry(name));
                jar.write(type.getClassLoader().getResourceAsStream(name).readAllBytes());
                jar.closeEntry();
            }
        }
    }

    static final class Main
    {
        private Main() {}

        public static void main(String[] args)
                throws IOException
        {
            ClassArchive archive = ClassArchive.of(ManagementFactory.getRuntimeMXBean().getInputArguments(), Path.of("").toAbsolutePath()).orElseThrow();
            if (archive.isCurrent()) {
                System.out.println("current");
                return;
            }
            try {
                archive.make();
                System.out.println("made");
            }
            catch (IOException e) {
                System.out.println("not made: " + e);
            }
        }
    }
}
