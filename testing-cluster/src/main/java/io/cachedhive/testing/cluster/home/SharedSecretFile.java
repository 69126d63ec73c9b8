package io.cachedhive.testing.cluster.home;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.util.Objects.requireNonNull;

/**
 * The file from which one process reads the shared secret. The process reads it again within 5 s of a change.
 */
public record SharedSecretFile(Path path)
{
    public SharedSecretFile
    {
        requireNonNull(path, "path is null");
    }

    /**
     * Replaces the file at once, readable by its owner only.
     *
     * @param secrets one, or two during a rotation, the preferred one first
     */
    public void write(List<String> secrets)
    {
        Path unfinished = path.resolveSibling(path.getFileName() + ".new");
        try {
            Files.createDirectories(path.getParent());
            Files.deleteIfExists(unfinished);
            Files.createFile(unfinished, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.write(unfinished, secrets);
            Files.move(unfinished, path, ATOMIC_MOVE, REPLACE_EXISTING);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The secrets of the file, the preferred one first. */
    public List<String> read()
    {
        try {
            return Files.readAllLines(path);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A secret that the process accepts. In the middle of a rotation this is the last one of the file: the process accepts
     * it before and after it has read the file again.
     */
    public String accepted()
    {
        return read().getLast();
    }
}
