package io.cachedhive.worker.fsck;

import io.cachedhive.worker.origin.OriginFile;
import io.cachedhive.worker.startup.StartupException;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * {@code cache-worker check-origins DIRECTORY}: reads the origin files as a cache worker does when it starts, and prints one line for each file that it would
 * refuse. It opens no connections, and accepts references to environment variables that are not set here.
 */
public final class CheckOrigins
{
    static final int EXIT_ACCEPTED = 0;
    static final int EXIT_REFUSED = 1;
    static final int EXIT_NOT_CHECKED = 2;

    private CheckOrigins() {}

    public static void main(String[] args)
    {
        System.exit(run(List.of(args), System.out, System.err));
    }

    static int run(List<String> args, PrintStream out, PrintStream err)
    {
        if (args.size() != 1 || args.getFirst().startsWith("-")) {
            err.println("usage: cache-worker check-origins DIRECTORY, as in cache.origins-directory");
            return EXIT_NOT_CHECKED;
        }
        List<Path> files;
        try (Stream<Path> listed = Files.list(Path.of(args.getFirst()))) {
            files = listed.filter(OriginFile::isOriginFile).sorted().toList();
        }
        catch (IOException | InvalidPathException e) {
            err.printf("%s cannot be listed: %s%n", args.getFirst(), e);
            return EXIT_NOT_CHECKED;
        }
        int exitCode = EXIT_ACCEPTED;
        for (Path file : files) {
            try {
                // the variables are those of the cache worker's hosts
                OriginFile origin = OriginFile.read(file, name -> Objects.requireNonNullElse(System.getenv(name), name));
                origin.id();
            }
            catch (StartupException e) {
                out.println(e.getMessage().replace('\n', ' '));
                exitCode = EXIT_REFUSED;
            }
            catch (IllegalArgumentException e) {
                out.printf("origin file %s: %s%n", file, e.getMessage());
                exitCode = EXIT_REFUSED;
            }
        }
        return exitCode;
    }
}
