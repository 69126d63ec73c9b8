package io.cachedhive.testing.cluster.home;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

import static com.google.common.io.MoreFiles.deleteRecursively;
import static com.google.common.io.RecursiveDeleteOption.ALLOW_INSECURE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

/**
 * Puts a home together out of links, so that each costs kilobytes although it shows hundreds of megabytes.
 */
final class HomeAssembly
{
    private static final String PLUGIN_SERVICE = "META-INF/services/io.trino.spi.Plugin";

    private HomeAssembly() {}

    /**
     * Links the launcher into {@code bin/}. Hard links or copies: the launcher takes the directory of its real file for the home.
     */
    static void installLauncher(Path launcherDirectory, Path home, String mainClass, String processName)
            throws IOException
    {
        Path bin = home.resolve("bin");
        replaceDirectory(bin);
        try (Stream<Path> paths = Files.walk(launcherDirectory)) {
            for (Path source : paths.toList()) {
                Path target = bin.resolve(launcherDirectory.relativize(source).toString());
                if (Files.isDirectory(source)) {
                    Files.createDirectories(target);
                }
                else if (!source.getFileName().toString().equals("launcher.properties")) {
                    hardLinkOrCopy(source, target);
                }
            }
        }
        Files.writeString(bin.resolve("launcher.properties"), "main-class=%s\nprocess-name=%s\n".formatted(mainClass, processName));
    }

    private static void hardLinkOrCopy(Path source, Path target)
            throws IOException
    {
        try {
            Files.createLink(target, source);
        }
        catch (FileSystemException | UnsupportedOperationException _) {
            // another file system, or one without links
            Files.copy(source, target);
        }
    }

    /** Makes {@code link} a symbolic link to the directory. */
    static void linkDirectory(Path directory, Path link)
            throws IOException
    {
        if (!Files.isDirectory(directory)) {
            throw new IllegalStateException("not built: " + directory);
        }
        delete(link);
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, directory);
    }

    /** Makes a plugin directory of links to jars, with the service entry of a plugin class for those that lack one. */
    static void assemblePlugin(Path directory, List<Path> jars, String pluginClass)
            throws IOException
    {
        replaceDirectory(directory);
        for (Path jar : jars) {
            Path link = directory.resolve(jar.getFileName());
            // a jar in two of the lists is the same jar
            if (!Files.exists(link)) {
                Files.createSymbolicLink(link, jar);
            }
        }
        try (OutputStream output = Files.newOutputStream(directory.resolve("service.jar"));
                JarOutputStream jar = new JarOutputStream(output)) {
            jar.putNextEntry(new JarEntry(PLUGIN_SERVICE));
            jar.write((pluginClass + "\n").getBytes(UTF_8));
            jar.closeEntry();
        }
    }

    /** JVM options that open remote JMX. Registry and server share the port, and both are bound to the address: the JDK's default is every address. */
    static List<String> remoteJmxOptions(String address, int port)
    {
        return List.of(
                "-Dcom.sun.management.jmxremote.port=" + port,
                "-Dcom.sun.management.jmxremote.rmi.port=" + port,
                "-Dcom.sun.management.jmxremote.host=" + address,
                "-Dcom.sun.management.jmxremote.authenticate=false",
                "-Dcom.sun.management.jmxremote.ssl=false",
                "-Djava.rmi.server.hostname=" + address);
    }

    static void writeProperties(Path file, Map<String, String> properties)
    {
        write(file, properties.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue() + "\n")
                .collect(joining()));
    }

    static void write(Path file, String text)
    {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void replaceDirectory(Path directory)
            throws IOException
    {
        delete(directory);
        Files.createDirectories(directory);
    }

    private static void delete(Path path)
            throws IOException
    {
        if (Files.isSymbolicLink(path)) {
            Files.delete(path);
        }
        else if (Files.exists(path)) {
            // symbolic links inside are deleted, not followed
            deleteRecursively(path, ALLOW_INSECURE);
        }
    }
}
