package io.cachedhive.worker.server;

import io.airlift.log.Logger;
import io.cachedhive.worker.startup.StartupException;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * The Unix socket of the block server and its file. Every user who may write to the file may connect. The file
 * therefore gets its group and mode before it is moved to its final path, so that other users can connect at no time.
 */
final class UnixSocketFile
        implements AutoCloseable
{
    private static final Logger log = Logger.get(UnixSocketFile.class);

    // sockaddr_un.sun_path has 108 bytes, of which the JDK, also used by clients, leaves two unused
    private static final int MAX_PATH_BYTES = 106;
    private static final int BACKLOG = 1024;
    private static final String PROPERTY = "cache.worker.socket-path";

    private final Path path;
    private final ServerSocketChannel channel;
    private final Object fileKey;

    private UnixSocketFile(Path path, ServerSocketChannel channel, Object fileKey)
    {
        this.path = requireNonNull(path, "path is null");
        this.channel = requireNonNull(channel, "channel is null");
        this.fileKey = requireNonNull(fileKey, "fileKey is null");
    }

    /**
     * Binds the socket.
     *
     * @param group the group that may connect; empty for only the user of this process
     * @throws StartupException if the socket cannot be bound to the path
     */
    static UnixSocketFile bind(Path configured, Optional<String> group)
    {
        Path path = configured.toAbsolutePath().normalize();
        if (path.toString().getBytes(UTF_8).length > MAX_PATH_BYTES) {
            throw new StartupException("%s=%s is longer than the %s bytes that Java allows: choose a shorter path".formatted(PROPERTY, path, MAX_PATH_BYTES));
        }
        Path directory = path.getParent();
        if (directory == null || !Files.isDirectory(directory)) {
            throw new StartupException("%s=%s: the directory %s does not exist: create it, writable for the user of this process".formatted(PROPERTY, path, directory));
        }
        if (!Files.isWritable(directory)) {
            throw new StartupException("%s=%s: the directory %s is not writable: give it to the user of this process".formatted(PROPERTY, path, directory));
        }
        Optional<GroupPrincipal> principal = group.map(UnixSocketFile::lookup);
        checkFree(path);
        try {
            return bind(path, directory, principal);
        }
        catch (IOException e) {
            throw new StartupException("%s=%s: cannot listen: %s".formatted(PROPERTY, path, e), e);
        }
    }

    private static GroupPrincipal lookup(String group)
    {
        try {
            return FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByGroupName(group);
        }
        catch (UserPrincipalNotFoundException e) {
            throw new StartupException(
                    "cache.worker.socket-group=%s: there is no such group on this host: create it, or name the group of the user that Trino runs as".formatted(group), e);
        }
        catch (IOException e) {
            throw new StartupException("cache.worker.socket-group=%s: the group cannot be looked up: %s".formatted(group, e), e);
        }
    }

    /**
     * Checks that no process listens on the path. A socket file that a killed process left behind will be replaced.
     */
    private static void checkFree(Path path)
    {
        BasicFileAttributes attributes;
        try {
            attributes = Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        }
        catch (NoSuchFileException _) {
            return;
        }
        catch (IOException e) {
            throw new StartupException("%s=%s cannot be looked at: %s".formatted(PROPERTY, path, e), e);
        }
        if (!attributes.isOther()) {
            throw new StartupException("%s=%s is there already and is not a socket: remove it, or choose another path".formatted(PROPERTY, path));
        }
        try (SocketChannel _ = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            throw new StartupException("%s=%s: another process answers on this socket: stop it, or choose another path".formatted(PROPERTY, path));
        }
        catch (IOException e) {
            log.debug("No process answers on %s (%s): replacing it", path, e);
        }
    }

    private static UnixSocketFile bind(Path path, Path directory, Optional<GroupPrincipal> group)
            throws IOException
    {
        Path privateDirectory = createPrivateDirectory(directory);
        Path file = privateDirectory.resolve("s");
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.bind(UnixDomainSocketAddress.of(file), BACKLOG);
            PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
            if (group.isPresent()) {
                setGroup(view, group.get());
            }
            view.setPermissions(PosixFilePermissions.fromString(group.isPresent() ? "rw-rw----" : "rw-------"));
            Object fileKey = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
            Files.move(file, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return new UnixSocketFile(path, channel, fileKey);
        }
        catch (IOException | RuntimeException e) {
            channel.close();
            Files.deleteIfExists(file);
            throw e;
        }
        finally {
            Files.deleteIfExists(privateDirectory);
        }
    }

    // a short name, so that the temporary path is rarely longer than the path of the socket
    private static Path createPrivateDirectory(Path directory)
            throws IOException
    {
        while (true) {
            Path candidate = directory.resolve(".w%04x".formatted(ThreadLocalRandom.current().nextInt(1 << 16)));
            try {
                return Files.createDirectory(candidate, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            }
            catch (FileAlreadyExistsException _) {
                // try another name
            }
        }
    }

    private static void setGroup(PosixFileAttributeView view, GroupPrincipal group)
    {
        try {
            view.setGroup(group);
        }
        catch (IOException e) {
            throw new StartupException(
                    "cache.worker.socket-group=%s: the socket cannot be given to this group (%s): make the user of this process a member of it"
                            .formatted(group.getName(), e.getMessage()),
                    e);
        }
    }

    ServerSocketChannel channel()
    {
        return channel;
    }

    Path path()
    {
        return path;
    }

    /**
     * Stops listening and removes the file, unless another process has replaced it.
     */
    @Override
    public void close()
    {
        try {
            channel.close();
            if (fileKey.equals(Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).fileKey())) {
                Files.delete(path);
            }
        }
        catch (NoSuchFileException _) {
            // another process removed it
        }
        catch (IOException e) {
            log.warn("Socket file %s cannot be removed: %s", path, e);
        }
    }
}
