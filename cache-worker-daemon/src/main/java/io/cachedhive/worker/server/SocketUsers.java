package io.cachedhive.worker.server;

import io.cachedhive.worker.startup.StartupException;
import jdk.net.ExtendedSocketOptions;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The users whose processes may connect to the Unix socket, by the credentials that the kernel reports
 * ({@code SO_PEERCRED}). The user of this process and root may always connect. Without a list, every process may that
 * the permissions of the socket's file admit.
 */
final class SocketUsers
{
    private static final String PROPERTY = "cache.worker.socket-users";

    private final Set<UserPrincipal> admitted;

    private SocketUsers(Set<UserPrincipal> admitted)
    {
        this.admitted = Set.copyOf(admitted);
    }

    /**
     * Looks up the users.
     *
     * @param names names of users, or numbers; empty if the permissions of the file decide
     * @throws StartupException if there is no such user on this host
     */
    static SocketUsers of(List<String> names)
    {
        if (names.isEmpty()) {
            return new SocketUsers(Set.of());
        }
        FileSystem fileSystem = FileSystems.getDefault();
        UserPrincipalLookupService users = fileSystem.getUserPrincipalLookupService();
        Set<UserPrincipal> admitted = new HashSet<>();
        for (String name : names) {
            try {
                admitted.add(users.lookupPrincipalByName(name));
            }
            catch (UserPrincipalNotFoundException e) {
                throw new StartupException("%s=%s: there is no user %s on this host: create it, or name the user that Trino runs as"
                        .formatted(PROPERTY, String.join(",", names), name), e);
            }
            catch (IOException e) {
                throw new StartupException("%s=%s: the user %s cannot be looked up (%s): check the user database of this host"
                        .formatted(PROPERTY, String.join(",", names), name, e.getMessage()), e);
            }
        }
        try {
            // as a number, because a container may have no name for it
            admitted.add(users.lookupPrincipalByName("0"));
            admitted.add(Files.getOwner(Path.of("/proc/self")));
        }
        catch (IOException e) {
            throw new StartupException("%s: the user of this process cannot be looked up (%s): mount /proc".formatted(PROPERTY, e.getMessage()), e);
        }
        return new SocketUsers(admitted);
    }

    boolean admits(UserPrincipal user)
    {
        return admitted.isEmpty() || admitted.contains(user);
    }

    /**
     * Returns the sentence for a user that is refused.
     */
    static String refusal(UserPrincipal user)
    {
        return "the user %s may not connect to this socket: add it to %s of the cache worker".formatted(user.getName(), PROPERTY);
    }

    /**
     * Returns the user of the process that connected to a Unix socket.
     */
    static UserPrincipal user(SocketChannel channel)
            throws IOException
    {
        return channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
    }
}
