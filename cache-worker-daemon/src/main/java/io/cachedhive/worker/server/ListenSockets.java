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
 * The two sockets of the block server, bound but not served yet: so that a worker that cannot have them ends before it takes memory and disk.
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
     * @param port 0 for any free one
     * @param socketGroup that may connect to the Unix socket; without one only the user of this process may
     * @throws StartupException if one of them cannot be had
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
                // it is not used any more, whatever is wrong with it
            }
        }
    }

    /**
     * Removes the file of the Unix socket, too. Closing twice is harmless.
     */
    @Override
    public void close()
    {
        closeQuietly(tcp);
        unix.close();
    }
}
