package io.cachedhive.packages;

import io.cachedhive.packages.PackageEntry.Access;
import io.cachedhive.packages.PackageEntry.Content;
import io.cachedhive.packages.PackageEntry.Directory;
import io.cachedhive.packages.PackageEntry.File;
import io.cachedhive.packages.PackageEntry.Link;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * The files of a package by their paths, without a leading slash, sorted by them: a directory comes before what is in it, and the same files
 * give the same package whatever order the disk lists them in.
 */
final class PackageTree
{
    private static final int DIRECTORY_MODE = 0755;
    static final int FILE_MODE = 0644;
    static final int PROGRAM_MODE = 0755;

    private final SortedMap<String, PackageEntry> entries = new TreeMap<>();

    SortedMap<String, PackageEntry> entries()
    {
        return Collections.unmodifiableSortedMap(entries);
    }

    /**
     * @return everything below a directory, by paths that begin there
     */
    PackageTree below(String directory)
    {
        PackageTree tree = new PackageTree();
        String prefix = directory + "/";
        entries.forEach((path, entry) -> {
            if (path.startsWith(prefix)) {
                tree.entries.put(path.substring(prefix.length()), entry);
            }
        });
        if (tree.entries.isEmpty()) {
            throw new IllegalArgumentException("nothing is below " + directory);
        }
        return tree;
    }

    PackageTree addDirectory(String path, int mode, Access access)
    {
        addParents(path);
        put(path, new Directory(mode, access));
        return this;
    }

    PackageTree addLink(String path, String target)
    {
        addParents(path);
        put(path, new Link(target));
        return this;
    }

    PackageTree addText(String path, String text)
    {
        return addFile(path, new File(Content.of(text.getBytes(UTF_8)), FILE_MODE, Access.ROOT, false));
    }

    PackageTree addFile(String path, File file)
    {
        addParents(path);
        put(path, file);
        return this;
    }

    PackageTree addFile(String path, Path source, int mode)
    {
        if (!Files.isRegularFile(source)) {
            throw new IllegalStateException("%s is missing: build the module that makes it".formatted(source));
        }
        return addFile(path, new File(Content.of(source), mode, Access.ROOT, false));
    }

    PackageTree addAll(PackageTree tree)
    {
        tree.entries.forEach(this::put);
        return this;
    }

    /**
     * Adds all entries of another tree below a directory.
     */
    PackageTree addTree(String directory, PackageTree tree)
    {
        addParents(directory + "/");
        tree.entries.forEach((path, entry) -> {
            addParents(directory + "/" + path);
            put(directory + "/" + path, entry);
        });
        return this;
    }

    /**
     * Adds all files of a directory on disk; those that may be executed there are programs.
     */
    PackageTree addFilesOf(String directory, Path source)
    {
        if (!Files.isDirectory(source)) {
            throw new IllegalStateException("%s is missing: build the module that makes it".formatted(source));
        }
        try (Stream<Path> files = Files.walk(source)) {
            List<Path> regular = files.filter(Files::isRegularFile).toList();
            if (regular.isEmpty()) {
                throw new IllegalStateException("%s has no files".formatted(source));
            }
            for (Path file : regular) {
                addFile(directory + "/" + source.relativize(file), file, Files.isExecutable(file) ? PROGRAM_MODE : FILE_MODE);
            }
        }
        catch (IOException e) {
            throw new IllegalStateException("%s cannot be read: %s".formatted(source, e), e);
        }
        return this;
    }

    /**
     * Size of all files, in bytes.
     */
    long size()
            throws IOException
    {
        long size = 0;
        for (PackageEntry entry : entries.values()) {
            if (entry instanceof File file) {
                size += file.content().size();
            }
        }
        return size;
    }

    private void addParents(String path)
    {
        for (int slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
            entries.putIfAbsent(path.substring(0, slash), new Directory(DIRECTORY_MODE, Access.ROOT));
        }
    }

    private void put(String path, PackageEntry entry)
    {
        PackageEntry before = entries.put(path, entry);
        if (before != null && !(before instanceof Directory && entry instanceof Directory)) {
            throw new IllegalArgumentException("two files at " + path);
        }
    }
}
