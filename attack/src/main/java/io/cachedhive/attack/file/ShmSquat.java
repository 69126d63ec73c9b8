package io.cachedhive.attack.file;

import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.OwnWorkers.OwnWorker;
import io.cachedhive.attack.setting.Sample;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

/**
 * A local user lays links, a FIFO and a directory with names of shared-memory files into the directory of a cache
 * worker. The cache worker finds them when it starts the next time.
 */
public final class ShmSquat
        implements Attack
{
    private static final byte[] CONTENT = new byte[1 << 20];

    private final Set<Path> laid = new HashSet<>();
    private Path linked;
    private Path hardLinked;
    private Path missing;
    private Set<PosixFilePermission> mode;

    @Override
    public String name()
    {
        return "shm-squat";
    }

    @Override
    public String description()
    {
        return "links, a FIFO and a directory in the place of shared memory, before a cache worker starts";
    }

    @Override
    public Set<Need> needs()
    {
        return Set.of(Need.OWN_WORKER);
    }

    @Override
    public boolean isCounted()
    {
        return false;
    }

    @Override
    public Optional<String> run(Target target, Pressure pressure)
            throws IOException, InterruptedException
    {
        OwnWorker worker = target.own().orElseThrow().first();
        Path directory = worker.memoryDirectory();
        // on the same file system, as a file with a hard link has to be, and deleted with it
        Path victims = Files.createDirectories(directory.resolveSibling("victims"));
        linked = Files.write(victims.resolve("linked"), CONTENT);
        hardLinked = Files.write(victims.resolve("hard-linked"), CONTENT);
        missing = victims.resolve("missing");
        mode = Files.getPosixFilePermissions(linked);

        String name = "cachedhive-" + welcome(target).worker() + "-00000000000000%02x.ram";
        laid.add(Files.createSymbolicLink(directory.resolve(name.formatted(1)), linked));
        laid.add(Files.createSymbolicLink(directory.resolve(name.formatted(2)), missing));
        laid.add(Files.createLink(directory.resolve(name.formatted(3)), hardLinked));
        laid.add(Files.createDirectory(directory.resolve(name.formatted(4))));
        laid.add(createFifo(directory.resolve(name.formatted(5))));
        return Optional.empty();
    }

    private static Welcome welcome(Target target)
            throws IOException
    {
        try (WireConnection connection = WireConnection.unix(target.socket().orElseThrow())) {
            return connection.establish(Optional.empty(), Sample.ORIGINS);
        }
    }

    private static Path createFifo(Path path)
            throws IOException, InterruptedException
    {
        Process process = new ProcessBuilder("mkfifo", path.toString()).redirectErrorStream(true).start();
        if (process.waitFor() != 0) {
            throw new IOException("mkfifo failed: " + path);
        }
        return path;
    }

    @Override
    public Optional<String> leftovers(Target target)
            throws IOException
    {
        Path memory = Path.of(welcome(target).memoryFile());
        if (laid.contains(memory)) {
            return Optional.of("the cache worker uses a laid file as its shared memory: " + memory);
        }
        for (Path victim : new Path[] {linked, hardLinked}) {
            if (!Arrays.equals(Files.readAllBytes(victim), CONTENT)) {
                return Optional.of("the cache worker wrote through a link into " + victim.getFileName());
            }
            if (!Files.getPosixFilePermissions(victim).equals(mode)) {
                return Optional.of("the cache worker changed through a link the mode of " + victim.getFileName());
            }
        }
        if (Files.exists(missing, NOFOLLOW_LINKS)) {
            return Optional.of("the cache worker created a file through a link");
        }
        return Optional.empty();
    }
}
