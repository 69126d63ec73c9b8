package io.cachedhive.benchmark.queries;

import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * The passes that were measured, one in each line as JSON. A benchmark that was interrupted goes on where the file ends.
 */
final class PassFile
{
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Path path;
    private final List<Pass> passes = new ArrayList<>();

    /**
     * @throws IllegalArgumentException if a line is none that this benchmark has written
     */
    PassFile(Path path)
            throws IOException
    {
        this.path = requireNonNull(path, "path is null");
        if (Files.exists(path)) {
            for (String line : Files.readAllLines(path)) {
                passes.add(read(line));
            }
        }
    }

    private Pass read(String line)
    {
        try {
            return MAPPER.readValue(line, Pass.class);
        }
        catch (IOException e) {
            throw new IllegalArgumentException("%s has a line that is no pass: delete the file to measure again (%s)".formatted(path, line), e);
        }
    }

    List<Pass> passes()
    {
        return List.copyOf(passes);
    }

    /**
     * Whether the passes of a run in a phase are there: those of all contenders are added together.
     */
    boolean has(String workload, StoreProfile profile, int run, Phase phase)
    {
        return passes.stream().anyMatch(pass -> pass.workload().equals(workload) && pass.profile() == profile && pass.run() == run && pass.phase() == phase);
    }

    /**
     * Adds all passes of a run.
     */
    void add(List<Pass> run)
    {
        String lines = run.stream().map(PassFile::write).collect(joining());
        try {
            Files.writeString(path, lines, CREATE, APPEND);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        passes.addAll(run);
    }

    private static String write(Pass pass)
    {
        try {
            return MAPPER.writeValueAsString(pass) + "\n";
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
