package io.cachedhive.attack.setting;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The resources that a process uses, as {@code /proc} shows them.
 *
 * @param threads without those of the HTTP server's pool, whose size the configuration limits, and which keeps each
 *         thread for a minute after its last request
 * @param memoryBytes resident memory without mapped files and shared memory
 */
public record ProcessUsage(int descriptors, int threads, long memoryBytes)
{
    // the kernel shows 15 characters of the name
    private static final String HTTP_THREAD = "http-server-wor";
    private static final long COLLECTION_SECONDS = 60;

    public static ProcessUsage of(long pid)
            throws IOException
    {
        Path process = Path.of("/proc", Long.toString(pid));
        long memoryBytes = 0;
        for (String line : Files.readAllLines(process.resolve("status"))) {
            if (line.startsWith("RssAnon:")) {
                memoryBytes = number(line) << 10;
            }
        }
        try (Stream<Path> descriptors = Files.list(process.resolve("fd"))) {
            return new ProcessUsage((int) descriptors.count(), threads(process), memoryBytes);
        }
    }

    /**
     * Returns the resources of a JVM without its garbage: the heap grows with the load, and shrinks only when all of it
     * is collected.
     *
     * @throws IOException if the JVM does not collect its garbage
     */
    public static ProcessUsage withoutGarbage(long pid)
            throws IOException, InterruptedException
    {
        Process jcmd = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(), Long.toString(pid), "GC.run")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            if (!jcmd.waitFor(COLLECTION_SECONDS, TimeUnit.SECONDS) || jcmd.exitValue() != 0) {
                throw new IOException("the JVM %s did not collect its garbage".formatted(pid));
            }
        }
        finally {
            jcmd.destroyForcibly();
        }
        return of(pid);
    }

    private static int threads(Path process)
            throws IOException
    {
        int threads = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(process.resolve("task"))) {
            for (Path task : tasks) {
                try {
                    if (!Files.readString(task.resolve("comm")).startsWith(HTTP_THREAD)) {
                        threads++;
                    }
                }
                catch (IOException _) {
                    // it has just ended
                }
            }
        }
        return threads;
    }

    private static long number(String line)
    {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
    }
}
