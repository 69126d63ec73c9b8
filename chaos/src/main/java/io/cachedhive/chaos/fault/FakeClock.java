package io.cachedhive.chaos.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.util.Objects.requireNonNull;

/**
 * The clock of a process that runs with libfaketime: its time of day can be moved while it runs. Its monotonic clock is that of the machine.
 */
final class FakeClock
{
    private static final List<Path> PLACES = List.of(
            Path.of("/usr/lib/x86_64-linux-gnu/faketime"),
            Path.of("/usr/lib/aarch64-linux-gnu/faketime"),
            Path.of("/usr/lib64/faketime"),
            Path.of("/usr/lib/faketime"));

    private final Path library;
    private final Path offset;

    FakeClock(Path library, Path offset)
    {
        this.library = requireNonNull(library, "library is null");
        this.offset = requireNonNull(offset, "offset is null");
    }

    static Optional<Path> findLibrary()
    {
        return PLACES.stream()
                .flatMap(place -> Stream.of(place.resolve("libfaketimeMT.so.1")))
                .filter(Files::exists)
                .findFirst();
    }

    /** For a process that is about to start. */
    Map<String, String> environment()
    {
        return Map.of(
                "LD_PRELOAD", library.toString(),
                "FAKETIME_TIMESTAMP_FILE", offset.toString(),
                "FAKETIME_CACHE_DURATION", "1",
                "DONT_FAKE_MONOTONIC", "1");
    }

    /** Takes effect within a second. */
    void move(int seconds)
    {
        try {
            Path unfinished = offset.resolveSibling(offset.getFileName() + ".new");
            Files.writeString(unfinished, "%+ds\n".formatted(seconds));
            Files.move(unfinished, offset, ATOMIC_MOVE, REPLACE_EXISTING);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
