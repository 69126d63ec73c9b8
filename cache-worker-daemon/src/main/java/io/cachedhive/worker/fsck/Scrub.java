package io.cachedhive.worker.fsck;

import io.cachedhive.store.block.StoreException;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * {@code cache-worker scrub --find WORD}: searches the files of a cache worker for a word, as raw bytes. Shows whether
 * encryption hides it.
 */
public final class Scrub
{
    static final int EXIT_NOT_FOUND = 0;
    static final int EXIT_FOUND = 1;
    static final int EXIT_NOT_SEARCHED = 2;

    private static final int BUFFER_BYTES = 1 << 20;
    private static final int MAX_WORD_BYTES = 4096;
    // all but the first one search only files that are new since
    private static final int MAX_ROUNDS = 100;

    private Scrub() {}

    public static void main(String[] args)
    {
        System.exit(run(List.of(args), System.out, System.err));
    }

    private static int run(List<String> args, PrintStream out, PrintStream err)
    {
        try {
            return run(args, InstalledStorage.find(), out, err);
        }
        catch (StoreException e) {
            err.println(e.getMessage());
            return EXIT_NOT_SEARCHED;
        }
    }

    static int run(List<String> args, Optional<InstalledStorage> storage, PrintStream out, PrintStream err)
    {
        if (args.size() < 2 || !args.getFirst().equals("--find") || args.get(1).isEmpty() || args.get(1).getBytes(UTF_8).length > MAX_WORD_BYTES) {
            err.println("usage: cache-worker scrub --find WORD [FILE-OR-DIRECTORY]...");
            return EXIT_NOT_SEARCHED;
        }
        if (args.size() == 2 && storage.isEmpty()) {
            err.println("There is no config.properties of a cache worker: name its directory with --etc-dir, or the files to search.");
            return EXIT_NOT_SEARCHED;
        }
        try {
            return search(args.get(1).getBytes(UTF_8), args.subList(2, args.size()), storage, out);
        }
        catch (IOException | InvalidPathException e) {
            err.printf("Not all files can be searched (%s): run this as the user of the cache worker, and name files that exist%n", e);
            return EXIT_NOT_SEARCHED;
        }
    }

    private static int search(byte[] word, List<String> paths, Optional<InstalledStorage> storage, PrintStream out)
            throws IOException
    {
        Set<SearchedFile> searched = new HashSet<>();
        int found = 0;
        long bytes = 0;
        boolean complete = false;
        for (int round = 0; !complete; round++) {
            if (round == MAX_ROUNDS) {
                throw new IOException("files were removed during each of %s searches".formatted(MAX_ROUNDS));
            }
            FoundFiles files = files(paths, storage);
            complete = !files.incomplete();
            for (Path file : files.files()) {
                try {
                    SearchedFile key = new SearchedFile(file, Files.readAttributes(file, BasicFileAttributes.class).fileKey());
                    if (searched.contains(key)) {
                        continue;
                    }
                    long size = Files.size(file);
                    OptionalLong position = find(file, word);
                    if (position.isPresent()) {
                        out.printf("%s: found at byte %s%n", file, position.getAsLong());
                        found++;
                    }
                    bytes += size;
                    searched.add(key);
                }
                catch (NoSuchFileException _) {
                    // a running cache worker replaces files: what this one had may be in another file now
                    complete = false;
                }
            }
        }
        out.printf("searched %s files with %s bytes: %s%n", searched.size(), bytes, found == 0 ? "not found" : "found in %s".formatted(found));
        return found == 0 ? EXIT_NOT_FOUND : EXIT_FOUND;
    }

    private static FoundFiles files(List<String> paths, Optional<InstalledStorage> storage)
            throws IOException
    {
        FoundFiles files = new FoundFiles();
        if (paths.isEmpty()) {
            for (Path directory : storage.orElseThrow().ssdDirectories()) {
                files.add(directory);
            }
            files.add(storage.get().stateDirectory());
            addMemoryFiles(storage.get(), files);
        }
        for (String path : paths) {
            files.add(Path.of(path));
        }
        return files;
    }

    /**
     * Adds the shared memory of the cache worker, which is not encrypted. Other cache workers' files have other ids.
     */
    private static void addMemoryFiles(InstalledStorage storage, FoundFiles files)
            throws IOException
    {
        Path idFile = storage.stateDirectory().resolve("worker-id");
        if (!Files.exists(idFile) || !Files.isDirectory(storage.ramDirectory())) {
            return;
        }
        String prefix = "cachedhive-%s-".formatted(Files.readString(idFile).strip());
        try (Stream<Path> found = Files.list(storage.ramDirectory())) {
            for (Path file : found.filter(path -> path.getFileName().toString().startsWith(prefix)).sorted().toList()) {
                files.addExisting(file);
            }
        }
    }

    /**
     * @param key identifies the file among those that have the same path one after the other
     */
    private record SearchedFile(Path path, Object key) {}

    /**
     * Regular files of directories in which a running cache worker adds, renames and removes files.
     */
    private static final class FoundFiles
            extends SimpleFileVisitor<Path>
    {
        private final List<Path> files = new ArrayList<>();
        private boolean incomplete;

        void add(Path path)
                throws IOException
        {
            if (!Files.exists(path)) {
                throw new IOException("%s does not exist".formatted(path));
            }
            // a directory may be configured by a link to it
            addExisting(path.toRealPath());
        }

        void addExisting(Path path)
                throws IOException
        {
            Files.walkFileTree(path, this);
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
        {
            if (Files.isRegularFile(file)) {
                files.add(file);
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException failure)
                throws IOException
        {
            if (!(failure instanceof NoSuchFileException)) {
                throw failure;
            }
            incomplete = true;
            return FileVisitResult.CONTINUE;
        }

        List<Path> files()
        {
            return files;
        }

        /**
         * Whether a file was removed while its directory was listed.
         */
        boolean incomplete()
        {
            return incomplete;
        }
    }

    /**
     * Returns the position of the first occurrence.
     */
    private static OptionalLong find(Path file, byte[] word)
            throws IOException
    {
        byte[] buffer = new byte[BUFFER_BYTES];
        int kept = 0;
        long start = 0;
        try (InputStream in = Files.newInputStream(file)) {
            while (true) {
                int read = in.readNBytes(buffer, kept, buffer.length - kept);
                int length = kept + read;
                int index = indexOf(buffer, length, word);
                if (index >= 0) {
                    return OptionalLong.of(start + index);
                }
                if (read == 0) {
                    return OptionalLong.empty();
                }
                // an occurrence may begin here and end in the next part
                int next = Math.min(length, word.length - 1);
                System.arraycopy(buffer, length - next, buffer, 0, next);
                start += length - next;
                kept = next;
            }
        }
    }

    private static int indexOf(byte[] buffer, int length, byte[] word)
    {
        for (int i = 0; i + word.length <= length; i++) {
            if (buffer[i] == word[0] && Arrays.equals(buffer, i, i + word.length, word, 0, word.length)) {
                return i;
            }
        }
        return -1;
    }
}
