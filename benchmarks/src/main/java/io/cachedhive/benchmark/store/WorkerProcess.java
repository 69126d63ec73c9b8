package io.cachedhive.benchmark.store;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A {@link StoreWorker} as its parent sees it. Closing kills it.
 */
final class WorkerProcess
        implements AutoCloseable
{
    private final Path log;
    private final long startNanos;
    private final Process process;
    private final BufferedReader answers;
    private final PrintStream commands;

    /**
     * @param heap of the process, as of {@code -Xmx}; everything else is as in a cache worker's {@code jvm.config}
     */
    WorkerProcess(Path directory, String heap, long blocks, int blocksPerFile, int firstFile, int checkpointSeconds)
            throws IOException
    {
        this.log = directory.resolve("worker.log");
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-server",
                "-Xmx" + heap,
                "-XX:MaxDirectMemorySize=512M",
                "-XX:+UseG1GC",
                "-XX:+ExitOnOutOfMemoryError",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp", System.getProperty("java.class.path"),
                StoreWorker.class.getName(),
                directory.toString(),
                Long.toString(blocks),
                Integer.toString(blocksPerFile),
                Integer.toString(firstFile),
                Integer.toString(checkpointSeconds))
                .redirectError(Redirect.appendTo(new File(log.toString())));
        this.startNanos = System.nanoTime();
        this.process = builder.start();
        this.answers = process.inputReader(UTF_8);
        this.commands = new PrintStream(process.getOutputStream(), true, UTF_8);
    }

    /**
     * @return the numbers of the answer
     */
    long[] ask(String command, String answer)
            throws IOException
    {
        commands.println(command);
        String line = answers.readLine();
        if (line == null || !line.startsWith(answer)) {
            throw new IOException("the store's process answered %s to %s: %s".formatted(line, command, Files.readString(log)));
        }
        String[] words = line.split(" ");
        long[] numbers = new long[words.length - 1];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = Long.parseLong(words[i + 1]);
        }
        return numbers;
    }

    /**
     * Since the process was started.
     */
    double seconds()
    {
        return (System.nanoTime() - startNanos) / 1e9;
    }

    /**
     * Waits until it ended by itself.
     */
    void awaitEnd()
            throws InterruptedException
    {
        commands.close();
        process.waitFor();
    }

    @Override
    public void close()
            throws InterruptedException
    {
        process.destroyForcibly().waitFor();
    }
}
