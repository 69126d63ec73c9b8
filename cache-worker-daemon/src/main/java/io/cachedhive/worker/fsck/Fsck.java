package io.cachedhive.worker.fsck;

import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.store.encryption.KeyFile;
import io.cachedhive.store.ssd.DirectoryCheck;
import io.cachedhive.store.ssd.DirectoryCheck.Finding;
import io.cachedhive.store.ssd.DirectoryCheck.Verdict;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * {@code cache-worker fsck DIRECTORY}: checks an SSD directory that no cache worker uses, without repairing it.
 */
public final class Fsck
{
    static final int EXIT_CLEAN = 0;
    static final int EXIT_DAMAGED = 1;
    static final int EXIT_NOT_CHECKED = 2;

    private Fsck() {}

    public static void main(String[] args)
    {
        System.exit(run(List.of(args), System.out, System.err));
    }

    private static List<Finding> check(Path directory, Optional<InstalledStorage> storage)
            throws StoreException
    {
        // a command that prints the key does not run for a directory that needs none
        boolean encrypted = Files.exists(directory.resolve(KeyFile.NAME));
        return DirectoryCheck.check(directory, new LocalDisk(), encrypted && storage.isPresent() ? storage.get().readKey() : Optional.empty());
    }

    static int run(List<String> args, PrintStream out, PrintStream err)
    {
        if (args.size() != 1 || args.getFirst().startsWith("-")) {
            err.println("usage: cache-worker fsck [--etc-dir DIRECTORY] [--data-dir DIRECTORY] DIRECTORY, one of cache.ssd.directories");
            return EXIT_NOT_CHECKED;
        }
        List<Finding> findings;
        try {
            Optional<InstalledStorage> storage = InstalledStorage.find();
            findings = check(Path.of(args.getFirst()), storage);
        }
        catch (StoreException | InvalidPathException e) {
            err.println(e.getMessage());
            return EXIT_NOT_CHECKED;
        }
        for (Finding finding : findings) {
            out.printf("%-14s %-8s %s%n", finding.subject(), finding.verdict().name().toLowerCase(Locale.ENGLISH), finding.text());
        }
        long damaged = findings.stream().filter(finding -> finding.verdict() == Verdict.DAMAGED).count();
        if (damaged == 0) {
            out.printf("%s is clean%n", args.getFirst());
            return EXIT_CLEAN;
        }
        out.printf("%s is damaged (%s findings): a cache worker ignores the damaged parts when it starts%n", args.getFirst(), damaged);
        return EXIT_DAMAGED;
    }
}
