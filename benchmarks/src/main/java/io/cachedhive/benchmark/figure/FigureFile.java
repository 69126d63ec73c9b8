package io.cachedhive.benchmark.figure;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * What a benchmark leaves behind for programs.
 *
 * @param command with which it can be run again
 */
@JsonPropertyOrder({"figures", "machine", "command"})
public record FigureFile(List<Figure> figures, Machine machine, String command)
{
    public FigureFile
    {
        figures = List.copyOf(figures);
        requireNonNull(machine, "machine is null");
        requireNonNull(command, "command is null");
    }

    public void write(Path file)
            throws IOException
    {
        Files.writeString(file, new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(this) + "\n");
    }
}
