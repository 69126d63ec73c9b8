package io.cachedhive.chaos.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

import static java.util.Objects.requireNonNull;

/**
 * Stands between the clients of a TCP server and the server, and makes their connections misbehave.
 * A trouble concerns existing connections and new ones until the next call of {@link #set}.
 */
public final class TcpProxy
        implements AutoCloseable
{
    /** What happens to the connections. */
    public enum Trouble
    {
        NONE,
        /** Connections end after a random number of bytes. */
        CUT,
        /** Connections end, and new ones end as soon as they are accepted. */
        REFUSED,
        /** Each piece is 5 to 150 ms late. */
        DELAYED,
        /** Nothing is transported. */
        STALLED,
        /** About one bit in 64 KiB is flipped. */
        FLIPPED
    }

    private static final int PIECE_BYTES = 32 << 10;
    private static final int BYTES_PER_CUT = 128 << 10;
    private static final int BYTES_PER_FLIP = 64 << 10;
    private static final int STALL_PAUSE_MILLIS = 20;

    private final ServerSocket listener;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile Optional<InetSocketAddress> target = Optional.empty();
    private volatile Trouble trouble = Trouble.NONE;
    private volatile boolean closed;

    private TcpProxy(ServerSocket listener)
    {
        this.listener = requireNonNull(listener, "listener is null");
    }

    /** Listens at once; connections end until {@link #forwardTo} is called. */
    public static TcpProxy open(String address, int port)
    {
        try {
            ServerSocket listener = new ServerSocket();
            listener.setReuseAddress(true);
            listener.bind(new InetSocketAddress(InetAddress.getByName(address), port), 200);
            TcpProxy proxy = new TcpProxy(listener);
            Thread.ofPlatform().daemon().name("proxy-" + address).start(proxy::accept);
            return proxy;
        }
        catch (IOException e) {
            throw new UncheckedIOException("the proxy cannot listen on %s:%s: %s".formatted(address, port, e.getMessage()), e);
        }
    }

    public int port()
    {
        return listener.getLocalPort();
    }

    public void forwardTo(String address, int port)
    {
        target = Optional.of(new InetSocketAddress(address, port));
    }

    public void set(Trouble trouble)
    {
        this.trouble = requireNonNull(trouble, "trouble is null");
        if (trouble == Trouble.REFUSED) {
            endConnections();
        }
    }

    /** Ends all connections that are open. New ones are accepted. */
    public void endConnections()
    {
        sockets.forEach(TcpProxy::reset);
    }

    private void accept()
    {
        while (!closed) {
            try {
                Socket client = listener.accept();
                if (target.isEmpty() || trouble == Trouble.REFUSED) {
                    reset(client);
                    continue;
                }
                Thread.ofPlatform().daemon().name("proxy-connection").start(() -> connect(client, target.get()));
            }
            catch (IOException _) {
                // closed, or out of descriptors for a moment
                Thread.onSpinWait();
            }
        }
    }

    private void connect(Socket client, InetSocketAddress address)
    {
        Socket server = new Socket();
        sockets.add(client);
        sockets.add(server);
        try {
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            server.connect(address, 5_000);
            Thread back = Thread.ofPlatform().daemon().name("proxy-back").start(() -> transport(server, client));
            transport(client, server);
            back.join();
        }
        catch (IOException _) {
            // the server does not run: the client sees that its connection ends
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        finally {
            // not reset: what was written may still be on its way
            close(client);
            close(server);
            sockets.remove(client);
            sockets.remove(server);
        }
    }

    private void transport(Socket from, Socket to)
    {
        byte[] piece = new byte[PIECE_BYTES];
        ThreadLocalRandom random = ThreadLocalRandom.current();
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            while (true) {
                int size = in.read(piece);
                if (size < 0) {
                    to.shutdownOutput();
                    return;
                }
                while (trouble == Trouble.STALLED && !closed) {
                    Thread.sleep(STALL_PAUSE_MILLIS);
                }
                Trouble now = trouble;
                if (now == Trouble.DELAYED) {
                    Thread.sleep(random.nextInt(5, 150));
                }
                else if (now == Trouble.FLIPPED && random.nextInt(BYTES_PER_FLIP) < size) {
                    piece[random.nextInt(size)] ^= (byte) (1 << random.nextInt(8));
                }
                else if (now == Trouble.CUT && random.nextInt(BYTES_PER_CUT) < size) {
                    out.write(piece, 0, random.nextInt(size));
                    reset(from);
                    reset(to);
                    return;
                }
                out.write(piece, 0, size);
            }
        }
        catch (IOException _) {
            // one end is gone: the other end shall see it too
            reset(from);
            reset(to);
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private static void reset(Socket socket)
    {
        try {
            socket.setOption(StandardSocketOptions.SO_LINGER, 0);
        }
        catch (IOException _) {
            // it was closed meanwhile
        }
        close(socket);
    }

    private static void close(Socket socket)
    {
        try {
            socket.close();
        }
        catch (IOException _) {
            // as good as closed
        }
    }

    @Override
    public void close()
    {
        closed = true;
        try {
            listener.close();
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        sockets.forEach(TcpProxy::reset);
    }
}
