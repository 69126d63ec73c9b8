package io.cachedhive.quickstart;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.util.Objects.requireNonNull;

/**
 * The note that a running quickstart leaves in its directory, so that {@code bin/sql} finds the server.
 *
 * @param server the coordinator
 * @param catalog where {@code bin/sql} starts
 * @param schema where {@code bin/sql} starts
 * @param pid of the quickstart
 */
public record RunningQuickstart(URI server, String catalog, String schema, long pid)
{
    private static final String FILE_NAME = "running.properties";

    public RunningQuickstart
    {
        requireNonNull(server, "server is null");
        requireNonNull(catalog, "catalog is null");
        requireNonNull(schema, "schema is null");
    }

    /// Reads the note of the quickstart that runs on `directory`; empty if none does, also if it died without taking its note away.
    public static Optional<RunningQuickstart> find(Path directory)
            throws IOException
    {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(directory.resolve(FILE_NAME))) {
            properties.load(reader);
        }
        catch (NoSuchFileException _) {
            return Optional.empty();
        }
        try {
            RunningQuickstart running = new RunningQuickstart(
                    URI.create(properties.getProperty("server", "")),
                    properties.getProperty("catalog", ""),
                    properties.getProperty("schema", ""),
                    Long.parseLong(properties.getProperty("pid", "")));
            return ProcessHandle.of(running.pid()).filter(ProcessHandle::isAlive).map(_ -> running);
        }
        catch (IllegalArgumentException e) {
            throw new IOException("%s is damaged: %s".formatted(directory.resolve(FILE_NAME), e.getMessage()), e);
        }
    }

    public void write(Path directory)
            throws IOException
    {
        Properties properties = new Properties();
        properties.setProperty("server", server.toString());
        properties.setProperty("catalog", catalog);
        properties.setProperty("schema", schema);
        properties.setProperty("pid", Long.toString(pid));
        // renamed, so that a reader never sees half of it
        Path temporary = directory.resolve(FILE_NAME + ".new");
        try (Writer writer = Files.newBufferedWriter(temporary)) {
            properties.store(writer, "the quickstart that runs on this directory");
        }
        Files.move(temporary, directory.resolve(FILE_NAME), ATOMIC_MOVE);
    }

    public static void remove(Path directory)
            throws IOException
    {
        Files.deleteIfExists(directory.resolve(FILE_NAME));
    }
}
