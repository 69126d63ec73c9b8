package io.cachedhive.chaos.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static java.util.Objects.requireNonNull;

/**
 * System calls of a process that fail or take longer, as strace(1) makes them, until it is closed.
 */
final class Strace
        implements AutoCloseable
{
    static final String READS = "pread64,preadv";
    static final String WRITES = "pwrite64,pwritev,write,fallocate,ftruncate";
    static final String SYNCS = "fsync,fdatasync";

    private static final Duration ATTACH_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

    private final Process strace;

    private Strace(Process strace)
    {
        this.strace = requireNonNull(strace, "strace is null");
    }

    /** Whether this machine has strace, and lets it look into other processes. */
    static boolean isPossible()
    {
        return works("strace", "-V") && works("sh", "-c", "sleep 5 & s=$!; strace -qq -e trace=none -p $s & t=$!; sleep 0.5; kill -0 $t && kill $t $s");
    }

    private static boolean works(String... command)
    {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0;
        }
        catch (IOException _) {
            return false;
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * @param files the calls on these are concerned
     * @param fault for example {@code error=EIO}
     * @param output gets what strace reports
     */
    static Strace attach(long pid, List<Path> files, String calls, String fault, Path output)
            throws InterruptedException
    {
        List<String> command = new ArrayList<>(List.of("strace", "-f", "-o", "/dev/null", "-e", "trace=" + calls, "-e", "inject=%s:%s".formatted(calls, fault)));
        files.forEach(file -> command.addAll(List.of("-P", file.toString())));
        command.addAll(List.of("-p", Long.toString(pid)));
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
            Strace strace = new Strace(process);
            long deadline = System.nanoTime() + ATTACH_TIMEOUT.toNanos();
            while (!Files.readString(output).contains(" attached")) {
                if (!process.isAlive() || System.nanoTime() >= deadline) {
                    strace.close();
                    throw new IllegalStateException("strace did not attach to process %s: %s".formatted(pid, Files.readString(output)));
                }
                Thread.sleep(POLL_INTERVAL);
            }
            return strace;
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close()
    {
        // it lets go of the process, which continues
        strace.destroy();
        strace.onExit().orTimeout(60, TimeUnit.SECONDS).join();
    }
}
