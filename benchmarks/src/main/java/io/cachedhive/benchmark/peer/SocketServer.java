package io.cachedhive.benchmark.peer;

import io.cachedhive.transport.tls.TlsContexts;

import javax.net.ServerSocketFactory;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Random;

/**
 * Sends bytes from memory to its one client, in as few steps as possible, and ends with it.
 */
public final class SocketServer
{
    static final String ADDRESS = "127.0.0.3";

    private SocketServer() {}

    /**
     * @param args bytes in memory, bytes of an answer, and whether to use TLS
     */
    public static void main(String[] args)
            throws IOException
    {
        byte[] bytes = new byte[Integer.parseInt(args[0])];
        new Random(483).nextBytes(bytes);
        int answerBytes = Integer.parseInt(args[1]);
        if (Boolean.parseBoolean(args[2])) {
            serveTls(bytes, answerBytes);
        }
        else {
            servePlain(ByteBuffer.allocateDirect(bytes.length).put(bytes).flip(), answerBytes);
        }
    }

    private static void servePlain(ByteBuffer bytes, int answerBytes)
            throws IOException
    {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(ADDRESS, 0));
            System.out.println(((InetSocketAddress) server.getLocalAddress()).getPort());
            try (SocketChannel client = server.accept()) {
                client.setOption(StandardSocketOptions.TCP_NODELAY, true);
                ByteBuffer request = ByteBuffer.allocateDirect(Long.BYTES);
                while (true) {
                    request.clear();
                    while (request.hasRemaining()) {
                        if (client.read(request) < 0) {
                            return;
                        }
                    }
                    ByteBuffer answer = bytes.slice(Math.toIntExact(request.getLong(0)), answerBytes);
                    while (answer.hasRemaining()) {
                        client.write(answer);
                    }
                }
            }
        }
    }

    private static void serveTls(byte[] bytes, int answerBytes)
            throws IOException
    {
        ServerSocketFactory factory = TlsContexts.selfSignedServer().getServerSocketFactory();
        try (ServerSocket server = factory.createServerSocket(0, 1, InetAddress.ofLiteral(ADDRESS))) {
            System.out.println(server.getLocalPort());
            try (Socket client = server.accept()) {
                client.setTcpNoDelay(true);
                DataInputStream in = new DataInputStream(client.getInputStream());
                OutputStream out = client.getOutputStream();
                while (true) {
                    out.write(bytes, Math.toIntExact(in.readLong()), answerBytes);
                }
            }
            catch (EOFException _) {
                // the client has all that it wants
            }
        }
    }
}
