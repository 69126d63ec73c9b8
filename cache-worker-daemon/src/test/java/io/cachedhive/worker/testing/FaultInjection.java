package io.cachedhive.worker.testing;

import io.cachedhive.testing.Await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * System calls of another process that fail, or last, as strace(1) can make them. Until it is closed: then the disk is mended.
 */
public final class FaultInjection
        implements AutoCloseable
{
    private final ProcessHandle strace;

    private FaultInjection(ProcessHandle strace)
    {
        this.strace = strace;
    }

    /**
     * @param files the calls on these are concerned
     * @param calls names of system calls, with commas
     * @param fault for example {@code error=EIO}
     * @param log gets what was injected
     */
    public static FaultInjection begin(Process process, List<Path> files, String calls, String fault, Path log)
    {
        List<String> command = new ArrayList<>(List.of("strace", "-f", "-o", log.toString(), "-e", "trace=" + calls, "-e", "inject=%s:%s".formatted(calls, fault)));
        for (Path file : files) {
            command.addAll(List.of("-P", file.toString()));
        }
        command.addAll(List.of("-p", Long.toString(process.pid())));
        Path said = log.resolveSibling(log.getFileName() + ".attached");
        try {
            Process strace = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
            Await.until("strace is attached", () -> {
                String output = read(said);
                if (!strace.isAlive()) {
                    throw new AssertionError("strace ended: " + output);
                }
                return output.contains(" attached");
            });
            return new FaultInjection(strace.toHandle());
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * What to start a process by, so that the calls fail from its beginning; {@link #of} ends that.
     *
     * <p>Each call of every thread fails: strace counts calls by thread, and which thread looks at a file again is not known.
     */
    public static String[] wrapper(Path file, String calls, String fault, Path log)
    {
        // -D: the process is not strace's child, and outlives it; -I2: strace may be told to leave; no filter of system calls, which would stay when it has left
        return new String[] {"strace", "-D", "-I2", "-f", "-o", log.toString(), "-e", "trace=" + calls, "-e", "inject=%s:%s".formatted(calls, fault), "-P", file.toString()};
    }

    /**
     * Of a process that was started by {@link #wrapper}.
     */
    public static FaultInjection of(Process process)
    {
        try (Stream<String> status = Files.lines(Path.of("/proc", Long.toString(process.pid()), "status"))) {
            long tracer = status
                    .filter(line -> line.startsWith("TracerPid:"))
                    .map(line -> Long.parseLong(line.substring("TracerPid:".length()).strip()))
                    .findFirst()
                    .orElseThrow();
            return new FaultInjection(ProcessHandle.of(tracer).orElseThrow(() -> new AssertionError("nobody traces process " + process.pid())));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path file)
    {
        try {
            return Files.readString(file);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Whether this machine has strace, and lets it look into other processes.
     */
    public static boolean isPossible()
    {
        return Shell.works("strace", "-V") && Shell.works("sh", "-c", "sleep 5 & strace -qq -e trace=none -p $! & s=$!; sleep 0.5; kill -0 $s && kill $s");
    }

    @Override
    public void close()
    {
        // it lets go of the process, which goes on
        strace.destroy();
        strace.onExit().orTimeout(30, TimeUnit.SECONDS).join();
    }
}
