package io.cachedhive.benchmark.store;

import io.cachedhive.testing.cluster.FreePorts;
import io.cachedhive.testing.cluster.home.Distribution;
import io.cachedhive.testing.cluster.home.SharedSecrets;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import static com.google.common.collect.MoreCollectors.onlyElement;
import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A {@link StoreWorker} in a process of its own: its commands and answers are lines.
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
     * @param directory of the store, with {@link StoreBenchmark#RAM_DIRECTORY} in it
     * @param scale says the heap of the process; everything else is as in a cache worker's {@code jvm.config}
     * @param encryptionKey file with the key of an encrypted store
     */
    WorkerProcess(Path directory, StoreBenchmark.Scale scale, Optional<Path> encryptionKey)
            throws IOException
    {
        this.log = directory.resolve("worker.log");
        Path config = directory.resolve("config.properties");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        try (Stream<String> packaged = Files.lines(Distribution.find().root().resolve("etc/cache-worker/jvm.config"))) {
            packaged.filter(line -> line.startsWith("-") && !line.startsWith("-Xmx")).forEach(command::add);
        }
        command.addAll(List.of(
                "-Xmx" + scale.heap(),
                "-Dconfig=" + config,
                "-Dnode.environment=benchmark",
                "-Dnode.id=benchmark",
                "-Dnode.data-dir=" + directory,
                "-Dlog.path=" + directory.resolve("server.log"),
                "-Dlog.enable-console=false",
                "-cp", classPath(),
                StoreWorker.class.getName(),
                directory.toString(),
                Long.toString(scale.blocks()),
                Integer.toString(scale.blocksPerFile())));
        for (String name : List.of("ssd", "trailers", "origins")) {
            Files.createDirectories(directory.resolve(name));
        }
        // every worker has one; nothing is asked of it
        Files.writeString(directory.resolve("origins").resolve("default.properties"), """
                s3.region=us-east-1
                s3.endpoint=http://127.0.0.1:1
                s3.path-style-access=true
                s3.aws-access-key=key
                s3.aws-secret-key=secret
                """);
        Files.writeString(config, """
                cache.worker.port=%s
                cache.worker.socket-path=%s
                internal-communication.shared-secret=%s
                http-server.http.port=%s
                cache.ram.directory=%s
                cache.ram.max-size=%sB
                cache.ssd.directories=%s
                cache.ssd.max-sizes=%sB
                cache.block-size=%sB
                cache.state-directory=%s
                cache.origins-directory=%s
                %s
                """.formatted(
                FreePorts.next(),
                directory.resolve("worker.sock"),
                SharedSecrets.generate(),
                FreePorts.next(),
                directory.resolve(StoreBenchmark.RAM_DIRECTORY),
                scale.ramBytes(),
                directory.resolve("ssd"),
                StoreBenchmark.capacityBytes(scale.blocks()),
                SyntheticBlocks.BLOCK_BYTES,
                directory.resolve("state"),
                directory.resolve("origins"),
                encryptionKey.map(file -> "cache.encryption.key-file=" + file).orElse("")));
        ProcessBuilder builder = new ProcessBuilder(command)
                // as by the launcher: jvm.config names files relative to it
                .directory(directory.toFile())
                .redirectError(Redirect.appendTo(log.toFile()));
        this.startNanos = System.nanoTime();
        this.process = builder.start();
        this.answers = process.inputReader(UTF_8);
        this.commands = new PrintStream(process.getOutputStream(), true, UTF_8);
    }

    /**
     * The libraries of the packaged cache worker, and this module for what stands for its disk; in a test, where nothing is packaged, all that there is.
     */
    private static String classPath()
    {
        if (System.getProperty(Distribution.ROOT_PROPERTY) == null) {
            return System.getProperty("java.class.path");
        }
        Path root = Distribution.find().root();
        return Distribution.find().cacheWorker().resolve("lib") + "/*" + File.pathSeparator + jar(root.resolve("benchmarks/target"));
    }

    /**
     * Not its directory of classes, since the JVM archives classes of jars only.
     */
    private static Path jar(Path target)
    {
        try (Stream<Path> files = Files.list(target)) {
            return files
                    .filter(file -> file.getFileName().toString().matches("benchmarks-[^-]+(-SNAPSHOT)?\\.jar"))
                    .collect(onlyElement());
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
            throw new IOException("the cache worker answered %s to %s: %s".formatted(line, command, Files.readString(log)));
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

    /**
     * As by kill -9, if it still runs.
     */
    @Override
    public void close()
            throws InterruptedException
    {
        process.destroyForcibly().waitFor();
    }
}
