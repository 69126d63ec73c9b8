package io.cachedhive.worker;

import com.google.common.base.Splitter;
import io.airlift.log.Logger;

import javax.management.JMException;
import javax.management.ObjectName;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.util.Objects.requireNonNull;

/**
 * The classes of this process in the form in which the JVM has them in memory. A start maps that file instead of reading, verifying and linking each class
 * of the libraries, which is most of what passes until the configuration is read.
 * <p>
 * It is class data sharing of the JVM (JEP 310): {@code -XX:SharedArchiveFile} in {@code jvm.config} names the file, and the JVM goes on without one that
 * is missing, damaged, or of another JVM or other libraries. What the JVM leaves to its operator is done here: the file is made from the running process as
 * by {@code jcmd PID VM.cds static_dump}, when there is none for this JVM and these libraries. Another JVM, a child, does the work.
 */
final class ClassArchive
{
    private static final Logger log = Logger.get(ClassArchive.class);

    private static final String OPTION = "-XX:SharedArchiveFile=";
    private static final String COMMAND = "static_dump";

    private final Path file;
    private final String contents;

    /**
     * @param contents what the file is made of, in words: {@link #contents()}
     */
    ClassArchive(Path file, String contents)
    {
        this.file = requireNonNull(file, "file is null");
        this.contents = requireNonNull(contents, "contents is null");
    }

    /**
     * @param jvmOptions of this process
     * @param workingDirectory that the JVM resolves the file's name against
     * @return empty if {@code jvm.config} asks for none
     */
    static Optional<ClassArchive> of(List<String> jvmOptions, Path workingDirectory)
            throws IOException
    {
        // as in the JVM, the last one counts
        Optional<String> name = jvmOptions.stream()
                .filter(option -> option.startsWith(OPTION))
                .reduce((_, last) -> last)
                .map(option -> option.substring(OPTION.length()));
        if (name.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new ClassArchive(workingDirectory.resolve(name.get()), contents()));
    }

    /**
     * Makes the archive that this process was told to use, after the delay and on a thread of its own, unless there is one.
     */
    static void makeAfter(Duration delay)
    {
        Thread.ofPlatform().daemon().name("class-archive").start(() -> {
            try {
                Thread.sleep(delay);
                Optional<ClassArchive> archive = of(ManagementFactory.getRuntimeMXBean().getInputArguments(), Path.of("").toAbsolutePath());
                if (archive.isPresent() && !archive.get().isCurrent()) {
                    archive.get().make();
                }
            }
            catch (IOException | RuntimeException e) {
                log.warn("The next start will be slower by a second or two: the archive of classes that %s in jvm.config names was not made: %s", OPTION, e.toString());
            }
            catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /**
     * Whether the file is there as it was made, by this JVM from these libraries.
     */
    boolean isCurrent()
            throws IOException
    {
        try {
            return Files.readString(description()).equals(describe());
        }
        catch (FileSystemException _) {
            return false;
        }
    }

    /**
     * Takes some seconds of a processor. The file is put in place when it is complete.
     *
     * @throws IOException if it was not made: the message has the JVM's reason
     */
    void make()
            throws IOException
    {
        Path made = file.resolveSibling(file.getFileName() + ".tmp");
        Files.createDirectories(file.getParent());
        String said = dump(made);
        if (!Files.isRegularFile(made)) {
            throw new IOException(said.strip());
        }
        // a file of other libraries would be refused by the JVM: between these lines, and ever after if this process ends there
        Files.deleteIfExists(description());
        Files.move(made, file, ATOMIC_MOVE, REPLACE_EXISTING);
        Files.writeString(description(), describe());
        log.info("Made %s, %s bytes, which shortens the next start", file, Files.size(file));
    }

    private static String dump(Path target)
            throws IOException
    {
        try {
            return (String) ManagementFactory.getPlatformMBeanServer().invoke(
                    new ObjectName("com.sun.management:type=DiagnosticCommand"),
                    "vmCds",
                    new Object[] {new String[] {COMMAND, target.toString()}},
                    new String[] {String[].class.getName()});
        }
        catch (JMException e) {
            throw new IOException("jcmd VM.cds %s: %s".formatted(COMMAND, e.getMessage()), e);
        }
        finally {
            removeOutput(target);
        }
    }

    /**
     * What the child said, which the JVM leaves in the working directory under names with the child's process id. It begins with the child's command.
     */
    private static void removeOutput(Path target)
            throws IOException
    {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("").toAbsolutePath(), "java_pid*_std{out,err}")) {
            for (Path file : files) {
                if (Files.readString(file).contains(target.toString())) {
                    Files.delete(file);
                }
            }
        }
    }

    private String describe()
            throws IOException
    {
        return contents + describe(file);
    }

    private static String describe(Path file)
            throws IOException
    {
        return "%s %s %s%n".formatted(file.toAbsolutePath(), Files.size(file), Files.getLastModifiedTime(file));
    }

    private Path description()
    {
        return file.resolveSibling(file.getFileName() + ".of");
    }

    /**
     * What the JVM compares before it maps an archive: itself, and names, lengths and times of the libraries.
     */
    private static String contents()
            throws IOException
    {
        StringBuilder contents = new StringBuilder();
        for (String property : List.of("java.vm.name", "java.vm.version", "java.vm.vendor", "java.home", "os.arch")) {
            contents.append(property).append('=').append(System.getProperty(property)).append('\n');
        }
        for (String entry : Splitter.on(File.pathSeparator).split(System.getProperty("java.class.path"))) {
            Path library = Path.of(entry);
            if (Files.exists(library)) {
                contents.append(describe(library));
            }
        }
        return contents.toString();
    }
}
