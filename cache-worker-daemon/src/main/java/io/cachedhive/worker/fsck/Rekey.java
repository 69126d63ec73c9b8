package io.cachedhive.worker.fsck;

import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.store.encryption.KeyFile;
import io.cachedhive.store.encryption.KeyFile.Outcome;
import io.cachedhive.store.encryption.KeySource;
import io.cachedhive.store.encryption.OperatorKey;

import java.io.Closeable;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * {@code cache-worker rekey}: lets the configured key open the directories that another key opens so far. Their
 * contents stay as they are, because only their data keys are encrypted again.
 */
public final class Rekey
{
    static final int EXIT_DONE = 0;
    static final int EXIT_REFUSED = 1;
    static final int EXIT_USAGE = 2;

    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(30);

    private Rekey() {}

    public static void main(String[] args)
    {
        System.exit(run(List.of(args), System.out, System.err));
    }

    private static int run(List<String> args, PrintStream out, PrintStream err)
    {
        Optional<InstalledStorage> storage;
        try {
            storage = InstalledStorage.find();
        }
        catch (StoreException e) {
            err.println(e.getMessage());
            return EXIT_USAGE;
        }
        if (storage.isEmpty()) {
            err.println("There is no config.properties of a cache worker: name its directory with --etc-dir.");
            return EXIT_USAGE;
        }
        return run(args, storage.get(), out, err);
    }

    static int run(List<String> args, InstalledStorage storage, PrintStream out, PrintStream err)
    {
        Optional<KeySource> oldSource = oldSource(args);
        if (oldSource.isEmpty()) {
            err.println("usage: cache-worker rekey --old-key-file FILE | --old-key-environment NAME | --old-key-command COMMAND");
            return EXIT_USAGE;
        }
        if (storage.key().isEmpty()) {
            err.println("No new key is configured: set cache.encryption.key-file, key-environment or key-command to the new key first.");
            return EXIT_USAGE;
        }
        List<Path> directories = new ArrayList<>(storage.ssdDirectories());
        directories.add(storage.stateDirectory());
        Disk disk = new LocalDisk();
        Deque<Closeable> locks = new ArrayDeque<>();
        try {
            OperatorKey oldKey = oldSource.get().read();
            OperatorKey newKey = storage.key().get().read();
            for (Path directory : directories) {
                locks.push(disk.tryLock(directory.resolve("lock")).orElseThrow(() -> new StoreException("%s is in use by a cache worker: stop it first".formatted(directory))));
            }
            // one that neither key opens is to change none
            for (Path directory : directories) {
                boolean known = isOpened(directory, disk, oldKey) || isOpened(directory, disk, newKey);
                if (!known && KeyFile.open(directory, disk, Optional.of(oldKey)).outcome() != Outcome.NO_FILE) {
                    throw new StoreException("%s is encrypted with neither of the two keys, so no directory was changed: name the key that it was last used with"
                            .formatted(directory));
                }
            }
            for (Path directory : directories) {
                Outcome outcome = KeyFile.rekey(directory, disk, oldKey, newKey);
                out.printf("%s: %s%n", directory, outcome == Outcome.OPENED ? "the new key opens it" : "it is not encrypted yet");
            }
            return EXIT_DONE;
        }
        catch (StoreException | InvalidPathException e) {
            err.println(e.getMessage());
            return EXIT_REFUSED;
        }
        catch (IOException e) {
            err.printf("The directories cannot be changed (%s): run this as the user of the cache worker, and repeat it%n", e.getMessage());
            return EXIT_REFUSED;
        }
        finally {
            locks.forEach(Rekey::close);
        }
    }

    private static boolean isOpened(Path directory, Disk disk, OperatorKey key)
            throws IOException
    {
        return KeyFile.open(directory, disk, Optional.of(key)).outcome() == Outcome.OPENED;
    }

    private static Optional<KeySource> oldSource(List<String> args)
    {
        if (args.size() != 2) {
            return Optional.empty();
        }
        String value = args.get(1);
        return switch (args.getFirst()) {
            case "--old-key-file" -> Optional.of(new KeySource.OfFile(Path.of(value)));
            case "--old-key-environment" -> Optional.of(new KeySource.OfEnvironment(value));
            case "--old-key-command" -> Optional.of(new KeySource.OfCommand(value, COMMAND_TIMEOUT));
            default -> Optional.empty();
        };
    }

    private static void close(Closeable lock)
    {
        try {
            lock.close();
        }
        catch (IOException e) {
            // the lock ends with this process
        }
    }
}
