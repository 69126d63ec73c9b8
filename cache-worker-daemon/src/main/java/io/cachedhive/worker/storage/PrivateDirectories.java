package io.cachedhive.worker.storage;

import io.airlift.log.Logger;
import io.cachedhive.protocol.memory.FileStatus;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.disk.Posix;
import io.cachedhive.worker.startup.StartupException;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Creates and checks the directories of the cache worker. Users who can write to one of them could replace its files,
 * and thus the bytes that queries read.
 */
public final class PrivateDirectories
{
    private static final Logger log = Logger.get(PrivateDirectories.class);

    private static final String RAM_PROPERTY = "cache.ram.directory";

    /**
     * What a directory is in which other users can create files, but not replace those of the cache worker.
     */
    private enum Sticky
    {
        /**
         * The cache worker and its clients check each file.
         */
        PRIVATE,
        /**
         * Another user can create the file while there is none.
         */
        DOUBTFUL,
        /**
         * Files are trusted by their names.
         */
        OPEN
    }

    private PrivateDirectories() {}

    /**
     * Creates the directory for shared memory if only the directory itself is missing. Its mode is 0700, or 0750 with a
     * group. Then checks all directories that exist, and logs one sentence for each of them that its group or another
     * owner can change.
     *
     * @param socket the Unix socket, whose directory is checked like the others
     * @throws StartupException if every user of the host can change a directory, or if another user made the one for
     *         shared memory
     */
    public static void prepare(StoreConfig config, Path socket)
    {
        createRamDirectory(config.ramDirectory(), config.sharedGroup());
        for (String warning : check(config, socket, Posix.userId())) {
            log.warn("%s", warning);
        }
    }

    private static void createRamDirectory(Path directory, Optional<String> group)
    {
        Path parent = directory.getParent();
        if (Files.exists(directory, LinkOption.NOFOLLOW_LINKS) || parent == null || !Files.isDirectory(parent)) {
            return;
        }
        try {
            Optional<GroupPrincipal> principal = Optional.empty();
            if (group.isPresent()) {
                principal = Optional.of(directory.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByGroupName(group.get()));
            }
            Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            if (principal.isPresent()) {
                PosixFileAttributeView view = Files.getFileAttributeView(directory, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
                view.setGroup(principal.get());
                Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-x---"));
            }
        }
        catch (FileAlreadyExistsException e) {
            // another cache worker of this host was faster; its directory is checked like any other
        }
        catch (UserPrincipalNotFoundException e) {
            throw new StartupException(
                    "cache.worker.socket-group=%s: there is no such group on this host: create it, or name the group of the user that Trino runs as".formatted(group.orElseThrow()),
                    e);
        }
        catch (IOException e) {
            throw new StartupException(
                    "%s=%s cannot be created (%s): create it for the cache worker's user and the group of cache.worker.socket-group, or name another directory on tmpfs"
                            .formatted(RAM_PROPERTY, directory, e),
                    e);
        }
    }

    /**
     * @return a sentence for each directory that its group or another owner can change
     */
    static List<String> check(StoreConfig config, Path socket, int userId)
    {
        List<String> warnings = new ArrayList<>();
        checkOwner(config.ramDirectory(), userId);
        check(RAM_PROPERTY, config.ramDirectory(), userId, Sticky.PRIVATE, warnings);
        check("the directory of cache.worker.socket-path", socket.toAbsolutePath().normalize().getParent(), userId, Sticky.DOUBTFUL, warnings);
        check("cache.state-directory", config.stateDirectory(), userId, Sticky.OPEN, warnings);
        for (SsdDirectoryConfig ssd : config.ssdDirectories()) {
            check("cache.ssd.directories", ssd.directory(), userId, Sticky.OPEN, warnings);
        }
        return warnings;
    }

    /**
     * Another user may have been first to create the directory, or a link of that name, in a directory that is open to
     * all users such as /dev/shm.
     */
    private static void checkOwner(Path directory, int userId)
    {
        try {
            for (FileStatus status : List.of(FileStatus.ofPath(directory), FileStatus.ofTarget(directory))) {
                if (status.userId() != userId && status.userId() != FileStatus.ROOT_ID) {
                    throw new StartupException(
                            "%s=%s belongs to the user with the id %s: remove it as root, or name a directory of the cache worker's own user".formatted(
                                    RAM_PROPERTY,
                                    directory,
                                    status.userId()));
                }
            }
        }
        catch (IOException e) {
            // the store reports a directory that is missing or inaccessible
            log.debug(e, "%s cannot be checked", directory);
        }
    }

    private static void check(String property, Path directory, int userId, Sticky sticky, List<String> warnings)
    {
        FileStatus status;
        try {
            status = FileStatus.ofTarget(directory);
        }
        catch (IOException e) {
            // the store reports a directory that is missing or inaccessible
            log.debug(e, "%s cannot be checked", directory);
            return;
        }
        if (!status.isDirectory()) {
            // the component that uses it reports that
            return;
        }
        if (status.isSticky() && status.isWritableByOthers() && sticky != Sticky.OPEN) {
            if (sticky == Sticky.DOUBTFUL) {
                warnings.add("%s, %s, is open to other users, who can take the name while the cache worker is stopped: choose a directory of the cache worker's own user"
                        .formatted(property, directory));
            }
            return;
        }
        if (status.isWritableByAll()) {
            throw new StartupException("%s, %s, can be changed by every user of this host (mode %s): run chmod o-w %s".formatted(
                    property,
                    directory,
                    status.permissions(),
                    directory));
        }
        if (status.userId() != userId && status.userId() != FileStatus.ROOT_ID) {
            warnings.add("%s, %s, belongs to the user with the id %s, who can change the cache: give it to the cache worker's user".formatted(
                    property,
                    directory,
                    status.userId()));
        }
        else if (status.isWritableByOthers()) {
            warnings.add("%s, %s, can be changed by its group (mode %s): run chmod g-w %s, unless all members of the group may change the cache".formatted(
                    property,
                    directory,
                    status.permissions(),
                    directory));
        }
    }
}
