package io.cachedhive.admin.settings;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * The cache worker's own parser of origin files, from the package that this program belongs to: what it refuses, a cache worker refuses when it starts.
 */
final class OriginParser
{
    private static final int EXIT_ACCEPTED = 0;
    private static final int EXIT_REFUSED = 1;

    private final Path program;

    private OriginParser(Path program)
    {
        this.program = requireNonNull(program, "program is null");
    }

    /// Empty if the package was not unpacked as a whole.
    static Optional<OriginParser> find()
    {
        try {
            Path jar = Path.of(OriginParser.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            // admin/lib/cache-admin.jar
            Path unpacked = jar.resolve("../../..").normalize();
            Path program = unpacked.resolve("worker/bin/cache-worker");
            return Files.isExecutable(program) ? Optional.of(new OriginParser(program)) : Optional.empty();
        }
        catch (URISyntaxException e) {
            return Optional.empty();
        }
    }

    /// One sentence for each file that is refused.
    ///
    /// @throws IOException if the parser does not run; the message is a sentence
    List<String> problems(Path directory)
            throws IOException
    {
        ProcessBuilder builder = new ProcessBuilder(program.toString(), "check-origins", directory.toString()).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
        try {
            return switch (process.waitFor()) {
                case EXIT_ACCEPTED -> List.of();
                case EXIT_REFUSED -> output.lines().toList();
                default -> throw new IOException("%s check-origins failed: %s".formatted(program, output));
            };
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
