package io.cachedhive.packages;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

/**
 * The completion of {@code cache-admin} for bash, as the tool itself tells it.
 */
final class BashCompletion
{
    private BashCompletion() {}

    /**
     * @param jar of the tool, with all that it needs in it
     */
    static String of(Path jar)
            throws IOException
    {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(List.of(java, "-Xmx64m", "-XX:TieredStopAtLevel=1", "-jar", jar.toString(), "completion"))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        process.getOutputStream().close();
        String completion = new String(process.getInputStream().readAllBytes(), UTF_8);
        try {
            int code = process.waitFor();
            if (code != 0 || completion.isBlank()) {
                throw new IllegalStateException("cache-admin completion of %s ended with %s, and must print the completion".formatted(jar, code));
            }
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        // it is sourced, not run; and a package is to have the same bytes each time, so that nothing in it may tell when it was made
        return completion.lines()
                .filter(line -> !line.startsWith("#!") && !line.startsWith("# Date:"))
                .map(line -> line + "\n")
                .collect(joining());
    }
}
