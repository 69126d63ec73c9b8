package io.cachedhive.attack.wire;

import io.cachedhive.protocol.ring.WorkerAddress;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import static java.util.Objects.requireNonNull;

/**
 * A server on a free port of the loopback address that handles each connection in a thread of its own. The handler's
 * connection is closed when the handler returns or fails.
 */
public final class Listener
        implements AutoCloseable
{
    private final ServerSocketChannel server;
    private final Handler handler;
    private final Set<SocketChannel> connections = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    @FunctionalInterface
    public interface Handler
    {
        /**
         * @throws IOException if a connection ends
         */
        void handle(SocketChannel connection)
                throws IOException;
    }

    private Listener(ServerSocketChannel server, Handler handler)
    {
        this.server = requireNonNull(server, "server is null");
        this.handler = requireNonNull(handler, "handler is null");
    }

    public static Listener start(Handler handler)
            throws IOException
    {
        ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), 0));
        Listener listener = new Listener(server, handler);
        Thread.ofPlatform().daemon().name("attack-listener").start(listener::accept);
        return listener;
    }

    public WorkerAddress address()
    {
        return new WorkerAddress("127.0.0.1", server.socket().getLocalPort());
    }

    private void accept()
    {
        while (true) {
            SocketChannel connection;
            try {
                connection = server.accept();
            }
            catch (IOException _) {
                // closed
                return;
            }
            connections.add(connection);
            Thread.ofPlatform().daemon().name("attack-listener-connection").start(() -> {
                try (connection) {
                    // one that is accepted while the server closes is not among those that are closed
                    if (!closed) {
                        handler.handle(connection);
                    }
                }
                catch (IOException _) {
                    // one of the peers ended it
                }
                finally {
                    connections.remove(connection);
                }
            });
        }
    }

    @Override
    public void close()
            throws IOException
    {
        closed = true;
        server.close();
        for (SocketChannel connection : connections) {
            connection.close();
        }
    }
}
