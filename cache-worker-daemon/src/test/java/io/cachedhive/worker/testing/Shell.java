package io.cachedhive.worker.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Runs the machine's own tools.
 */
public final class Shell
{
    private Shell() {}

    /**
     * @return what it said
     */
    public static String run(String... command)
    {
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new AssertionError("%s failed with %s: %s".formatted(List.of(command), process.exitValue(), output));
            }
            return output.strip();
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Whether the command is there and works.
     */
    public static boolean works(String... command)
    {
        try {
            run(command);
            return true;
        }
        catch (AssertionError | UncheckedIOException e) {
            return false;
        }
    }
}
