package io.cachedhive.benchmark.peer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Random;

/**
 * Sends bytes from memory to its one client, as few steps as there can be, and ends with it.
 */
public final class PlainTcpServer
{
    static final String ADDRESS = "127.0.0.3";

    private PlainTcpServer() {}

    /**
     * @param args bytes in memory, and bytes of an answer
     */
    public static void main(String[] args)
            throws IOException
    {
        ByteBuffer bytes = ByteBuffer.allocateDirect(Integer.parseInt(args[0]));
        int answerBytes = Integer.parseInt(args[1]);
        byte[] piece = new byte[1 << 20];
        Random random = new Random(483);
        while (bytes.remaining() >= piece.length) {
            random.nextBytes(piece);
            bytes.put(piece);
        }
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(ADDRESS, 0));
            System.out.println(((InetSocketAddress) server.getLocalAddress()).getPort());
            try (SocketChannel client = server.accept()) {
                client.setOption(StandardSocketOptions.TCP_NODELAY, true);
                serve(client, bytes, answerBytes);
            }
        }
    }

    private static void serve(SocketChannel client, ByteBuffer bytes, int answerBytes)
            throws IOException
    {
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
