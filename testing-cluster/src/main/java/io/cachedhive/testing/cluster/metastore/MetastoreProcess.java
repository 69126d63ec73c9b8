package io.cachedhive.testing.cluster.metastore;

import io.cachedhive.testing.cluster.home.Distribution;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import static java.lang.ProcessBuilder.Redirect.appendTo;
import static java.util.Objects.requireNonNull;

/**
 * A Hive Metastore in a process of its own, with an embedded database.
 *
 * <p>It sees no files: every directory exists and is empty. Dropping a managed table leaves its objects behind.
 */
public final class MetastoreProcess
        implements AutoCloseable
{
    private static final String ADDRESS = "127.0.0.1";
    private static final int HEAP_MEGABYTES = 256;
    private static final Duration START_TIMEOUT = Duration.ofMinutes(3);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    private final Process process;
    private final int port;
    private final Thread shutdownHook;

    private MetastoreProcess(Process process, int port)
    {
        this.process = requireNonNull(process, "process is null");
        this.port = port;
        this.shutdownHook = new Thread(process::destroyForcibly, "metastore-shutdown");
        Runtime.getRuntime().addShutdownHook(shutdownHook);
    }

    /**
     * Returns when the metastore accepts connections.
     *
     * @param directory for its database, which may be there from before, and its log
     * @param warehouse location under which schemas without a location are created
     * @throws IllegalStateException if it ends or does not listen
     */
    public static MetastoreProcess start(Distribution distribution, Path directory, int port, URI warehouse)
    {
        Path output = directory.resolve("metastore.log");
        try {
            Files.createDirectories(directory);
            Process process = new ProcessBuilder(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx%sm".formatted(HEAP_MEGABYTES),
                    "-XX:+UseSerialGC",
                    "-XX:+ExitOnOutOfMemoryError",
                    "-cp", "%s:%s/*".formatted(distribution.metastoreClasses(), distribution.metastoreLibrary()),
                    "org.apache.hadoop.hive.metastore.HiveMetaStore",
                    "-p", Integer.toString(port),
                    "--hiveconf", "metastore.thrift.bind.host=" + ADDRESS,
                    "--hiveconf", "metastore.warehouse.dir=" + warehouse,
                    "--hiveconf", "javax.jdo.option.ConnectionURL=jdbc:derby:;databaseName=%s;create=true".formatted(directory.resolve("database"))))
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(appendTo(output.toFile()))
                    .start();
            MetastoreProcess metastore = new MetastoreProcess(process, port);
            metastore.awaitListening(output);
            return metastore;
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void awaitListening(Path output)
    {
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        while (!isListening()) {
            if (!process.isAlive()) {
                throw new IllegalStateException("the metastore ended: see " + output);
            }
            if (System.nanoTime() >= deadline) {
                close();
                throw new IllegalStateException("the metastore did not listen within %s: see %s".formatted(START_TIMEOUT, output));
            }
            try {
                Thread.sleep(POLL_INTERVAL);
            }
            catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                close();
                throw new IllegalStateException("interrupted", e);
            }
        }
    }

    private boolean isListening()
    {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
            return true;
        }
        catch (IOException _) {
            return false;
        }
    }

    /**
     * The {@code thrift:} URI for {@code hive.metastore.uri}.
     */
    public URI uri()
    {
        return URI.create("thrift://%s:%s".formatted(ADDRESS, port));
    }

    @Override
    public void close()
    {
        process.destroyForcibly().onExit().join();
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        }
        catch (IllegalStateException _) {
            // the JVM shuts down
        }
    }
}
