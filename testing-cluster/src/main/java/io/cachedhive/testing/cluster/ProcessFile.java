package io.cachedhive.testing.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * Remembers in a node's home which process runs from it. A program that is killed leaves its servers behind, and they would keep ports and cache from the next one.
 */
final class ProcessFile
{
    private final Path file;

    private ProcessFile(Path file)
    {
        this.file = requireNonNull(file, "file is null");
    }

    static ProcessFile of(Path home)
    {
        return new ProcessFile(home.resolve("var/run/process"));
    }

    /** Kills what still runs from the homes in the directory. */
    static void stopLeftovers(Path homes, Consumer<String> progress)
    {
        List<ProcessHandle> killed = new ArrayList<>();
        for (Path home : list(homes)) {
            of(home).leftover().ifPresent(process -> {
                progress.accept("stopping %s of an earlier run, pid %s".formatted(home.getFileName(), process.pid()));
                process.destroyForcibly();
                killed.add(process);
            });
        }
        killed.forEach(process -> process.onExit().join());
        list(homes).forEach(home -> of(home).delete());
    }

    private static List<Path> list(Path directory)
    {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> paths = Files.list(directory)) {
            return paths.toList();
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void write(ProcessHandle process)
    {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, process.pid() + " " + startOf(process));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void delete()
    {
        try {
            Files.deleteIfExists(file);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // a pid comes back some day, but not with the same start
    private Optional<ProcessHandle> leftover()
    {
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            String[] words = Files.readString(file).strip().split(" ");
            return ProcessHandle.of(Long.parseLong(words[0]))
                    .filter(ProcessHandle::isAlive)
                    .filter(process -> startOf(process).equals(words[1]));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String startOf(ProcessHandle process)
    {
        return process.info().startInstant().map(Instant::toString).orElse("-");
    }
}
