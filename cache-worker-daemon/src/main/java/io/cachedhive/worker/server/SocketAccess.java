package io.cachedhive.worker.server;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Who may use the Unix socket.
 *
 * @param group the group that may connect; empty for only the user of this process
 * @param users the names or numbers of the users that may connect, besides root and the user of this process; empty if
 * the permissions of the socket's file decide
 */
public record SocketAccess(Optional<String> group, List<String> users)
{
    /**
     * Only the user of this process.
     */
    public static final SocketAccess OWN_USER = new SocketAccess(Optional.empty(), List.of());

    public SocketAccess
    {
        requireNonNull(group, "group is null");
        users = List.copyOf(users);
    }
}
