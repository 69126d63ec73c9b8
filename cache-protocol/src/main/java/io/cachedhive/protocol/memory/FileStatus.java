package io.cachedhive.protocol.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * The kernel's record of a file: who owns it, what it is, and who may write to it.
 *
 * <p>Checks of a file that another user may replace need the record of the open descriptor, not of the path.
 *
 * @param userId numeric id of the owner
 * @param mode type and permissions, as st_mode of stat(2)
 * @param linkCount number of names
 * @param device number of the file system
 * @param inode number within the file system
 */
public record FileStatus(int userId, int mode, int linkCount, long device, long inode)
{
    public static final int ROOT_ID = 0;

    private static final int TYPE_MASK = 0170000;
    private static final int REGULAR = 0100000;
    private static final int DIRECTORY = 0040000;
    private static final int SYMBOLIC_LINK = 0120000;
    private static final int STICKY = 0001000;
    private static final int GROUP_OR_OTHERS_WRITE = 0022;
    private static final int OTHERS_WRITE = 0002;
    private static final int PERMISSIONS_MASK = 07777;

    /**
     * Returns the record of the file that a descriptor of this process has open.
     */
    public static FileStatus ofDescriptor(int descriptor)
            throws IOException
    {
        return read(descriptorPath(descriptor));
    }

    /**
     * Returns the record of a path; of the target if it is a symbolic link.
     */
    public static FileStatus ofTarget(Path path)
            throws IOException
    {
        return read(path);
    }

    /**
     * Returns the record of a path; of the link itself if it is a symbolic link.
     */
    public static FileStatus ofPath(Path path)
            throws IOException
    {
        return read(path, LinkOption.NOFOLLOW_LINKS);
    }

    private static FileStatus read(Path path, LinkOption... options)
            throws IOException
    {
        Map<String, Object> attributes = Files.readAttributes(path, "unix:uid,mode,nlink,dev,ino", options);
        return new FileStatus(
                (int) attributes.get("uid"),
                (int) attributes.get("mode"),
                (int) attributes.get("nlink"),
                (long) attributes.get("dev"),
                (long) attributes.get("ino"));
    }

    /**
     * Returns a path by which this process reaches the open file itself, whatever its name refers to by now.
     */
    public static Path descriptorPath(int descriptor)
    {
        return Path.of("/proc/self/fd", Integer.toString(descriptor));
    }

    public boolean isDirectory()
    {
        return (mode & TYPE_MASK) == DIRECTORY;
    }

    /**
     * Returns whether the group or all users can write: for a directory, whether they can create names in it.
     */
    public boolean isWritableByOthers()
    {
        return (mode & GROUP_OR_OTHERS_WRITE) != 0;
    }

    public boolean isWritableByAll()
    {
        return (mode & OTHERS_WRITE) != 0;
    }

    /**
     * Returns whether a directory lets only the owner of a name remove or rename it.
     */
    public boolean isSticky()
    {
        return (mode & STICKY) != 0;
    }

    /**
     * Returns whether both are records of one file, whatever its names.
     */
    public boolean isSameFile(FileStatus other)
    {
        return device == other.device && inode == other.inode;
    }

    public String permissions()
    {
        return "%04o".formatted(mode & PERMISSIONS_MASK);
    }

    /**
     * Checks that the file is a regular one of this owner with a single name. A file that fails the check may belong to
     * another user, or may be another file of the owner under a second name.
     *
     * @return the problem, as the end of a sentence about the file; empty if there is none
     */
    public Optional<String> problemForOwner(int expectedUserId)
    {
        if ((mode & TYPE_MASK) == SYMBOLIC_LINK) {
            return Optional.of("it is a symbolic link");
        }
        if ((mode & TYPE_MASK) != REGULAR) {
            return Optional.of("it is not a regular file");
        }
        if (userId != expectedUserId) {
            return Optional.of("it belongs to the user with the id %s instead of %s".formatted(userId, expectedUserId));
        }
        if (linkCount != 1) {
            return Optional.of("it has %s names (hard links) instead of one".formatted(linkCount));
        }
        return Optional.empty();
    }
}
