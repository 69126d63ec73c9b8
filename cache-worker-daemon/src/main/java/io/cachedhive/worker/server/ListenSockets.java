package io.cachedhive.worker.server;

import io.cachedhive.worker.startup.StartupException;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The two bound sockets of the block server. They are bound before the server starts, so that a worker that cannot
 * listen exits before it allocates memory and disk space.
 */
public final class ListenSockets
        implements AutoCloseable
{
    private static final int BACKLOG = 1024;

    private final ServerSocketChannel tcp;
    private final UnixSocketFile unix;

    private ListenSockets(ServerSocketChannel tcp, UnixSocketFile unix)
    {
        this.tcp = requireNonNull(tcp, "tcp is null");
        this.unix = requireNonNull(unix, "unix is null");
    }

    /**
     * Binds both sockets.
     *
     * @param port 0 for any free port
     * @param socketGroup the group that may connect to the Unix socket; empty for only the user of this process
     * @throws StartupException if a socket cannot be bound
     */
    public static ListenSockets bind(InetAddress address, int port, Path socketPath, Optional<String> socketGroup)
    {
        ServerSocketChannel tcp = bindTcp(new InetSocketAddress(address, port));
        try {
            return new ListenSockets(tcp, UnixSocketFile.bind(socketPath, socketGroup));
        }
        catch (RuntimeException e) {
            closeQuietly(tcp);
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

    ServerSocketChannel tcp()
    {
        return tcp;
    }

    ServerSocketChannel unix()
    {
        return unix.channel();
    }

    public InetSocketAddress tcpAddress()
    {
        try {
            return (InetSocketAddress) tcp.getLocalAddress();
        }
        catch (IOException e) {
            throw new IllegalStateException("block server is closed", e);
        }
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
     * Closes both sockets and removes the file of the Unix socket. Closing twice has no effect.
     */
    @Override
    public void close()
    {
        closeQuietly(tcp);
        unix.close();
    }
}
