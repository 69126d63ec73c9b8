package io.cachedhive.worker.server;

import io.cachedhive.worker.startup.StartupException;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The bound sockets of the block server: the Unix socket and, if there is a shared secret, a TCP socket. They are bound
 * before the server starts, so that a worker that cannot listen exits before it allocates memory and disk space.
 */
public final class ListenSockets
        implements AutoCloseable
{
    private static final int BACKLOG = 1024;

    private final Optional<ServerSocketChannel> tcp;
    private final UnixSocketFile unix;
    private final SocketUsers users;

    private ListenSockets(Optional<ServerSocketChannel> tcp, UnixSocketFile unix, SocketUsers users)
    {
        this.tcp = requireNonNull(tcp, "tcp is null");
        this.unix = requireNonNull(unix, "unix is null");
        this.users = requireNonNull(users, "users is null");
    }

    /**
     * Binds the sockets.
     *
     * @param tcpAddress the address for TCP, with port 0 for any free port; empty to listen on the Unix socket only
     * @param access who may connect to the Unix socket
     * @throws StartupException if a socket cannot be bound, or a user or group does not exist
     */
    public static ListenSockets bind(Optional<InetSocketAddress> tcpAddress, Path socketPath, SocketAccess access)
    {
        SocketUsers users = SocketUsers.of(access.users());
        Optional<ServerSocketChannel> tcp = tcpAddress.map(ListenSockets::bindTcp);
        try {
            return new ListenSockets(tcp, UnixSocketFile.bind(socketPath, access.group()), users);
        }
        catch (RuntimeException e) {
            tcp.ifPresent(ListenSockets::closeQuietly);
            throw e;
        }
    }

    private static ServerSocketChannel bindTcp(InetSocketAddress address)
    {
        ServerSocketChannel channel = null;
        try {
            channel = ServerSocketChannel.open();
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(address, BACKLOG);
            return channel;
        }
        catch (IOException e) {
            closeQuietly(channel);
            throw new StartupException("cache.worker.port=%s: cannot listen on %s:%s (%s): stop what listens there, or choose another port or node.bind-ip"
                    .formatted(address.getPort(), address.getAddress().getHostAddress(), address.getPort(), e.getMessage()), e);
        }
    }

    Optional<ServerSocketChannel> tcp()
    {
        return tcp;
    }

    ServerSocketChannel unix()
    {
        return unix.channel();
    }

    /**
     * Returns the users whose processes may use the Unix socket.
     */
    SocketUsers users()
    {
        return users;
    }

    /**
     * Returns the address on which TCP connections are accepted, or empty if there is only the Unix socket.
     */
    public Optional<InetSocketAddress> tcpAddress()
    {
        return tcp.map(channel -> {
            try {
                return (InetSocketAddress) channel.getLocalAddress();
            }
            catch (IOException e) {
                throw new IllegalStateException("block server is closed", e);
            }
        });
    }

    public Path socketPath()
    {
        return unix.path();
    }

    private static void closeQuietly(ServerSocketChannel channel)
    {
        if (channel != null) {
            try {
                channel.close();
            }
            catch (IOException _) {
                // the channel is discarded anyway
            }
        }
    }

    /**
     * Closes the sockets and removes the file of the Unix socket. Closing twice has no effect.
     */
    @Override
    public void close()
    {
        tcp.ifPresent(ListenSockets::closeQuietly);
        unix.close();
    }
}
