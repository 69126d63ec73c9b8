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
 * An archive of the process's classes in the memory format of the JVM. At startup, the JVM maps the archive instead of
 * reading, verifying and linking each library class, which otherwise takes most of the time until the configuration is
 * read.
 *
 * <p>The archive uses class data sharing (JEP 310). {@code -XX:SharedArchiveFile} in {@code jvm.config} names the file,
 * and the JVM ignores a file that is missing, damaged, or made for another JVM or other libraries. The JVM leaves the
 * creation to its operator; this class creates the file from the running process, like
 * {@code jcmd PID VM.cds static_dump}. It does so if there is no file for this JVM and these libraries. A child JVM
 * does the work.
 */
final class ClassArchive
{
    private static final Logger log = Logger.get(ClassArchive.class);

    private static final String OPTION = "-XX:SharedArchiveFile=";
    private static final String COMMAND = "static_dump";

    private final Path file;
    private final String contents;

    /**
     * @param contents a description of the archive's contents: {@link #contents()}
     */
    ClassArchive(Path file, String contents)
    {
        this.file = requireNonNull(file, "file is null");
        this.contents = requireNonNull(contents, "contents is null");
    }

    /**
     * Returns the archive that the JVM options name.
     *
     * @param jvmOptions the options of this process
     * @param workingDirectory the directory to which the JVM resolves the file name
     * @return empty if the options name no archive
     */
    static Optional<ClassArchive> of(List<String> jvmOptions, Path workingDirectory)
            throws IOException
    {
        // the last option wins, as in the JVM
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
     * Creates the configured archive on a separate thread after a delay, unless it is current.
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
                log.warn("Cannot create the class archive that %s in jvm.config names; the next start is slower by a second or two: %s", OPTION, e.toString());
            }
            catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /**
     * Returns whether the file is unchanged since this JVM created it from these libraries.
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
     * Creates the archive, which takes some seconds of processor time. The file is moved into place when it is
     * complete.
     *
     * @throws IOException if the archive was not created; the message contains the JVM's reason
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
        // The description is deleted first and written last. If the process ends in between, the next start creates the
        // file again.
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
     * Deletes the output of the child JVM. The JVM leaves it in the working directory, with the child's process id in
     * the file name; the child's command is at its beginning.
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
     * Returns the properties that the JVM compares before it maps an archive: the JVM itself, and the names, lengths
     * and times of the libraries.
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
