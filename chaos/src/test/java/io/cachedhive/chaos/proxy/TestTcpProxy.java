package io.cachedhive.chaos.proxy;

import io.cachedhive.chaos.proxy.TcpProxy.Trouble;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Arrays;
import java.util.BitSet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class TestTcpProxy
{
    private static final int BYTES = 1 << 20;

    private ServerSocket echo;
    private TcpProxy proxy;

    @BeforeEach
    void start()
            throws IOException
    {
        echo = new ServerSocket();
        echo.bind(new InetSocketAddress("127.0.0.1", 0));
        Thread.ofPlatform().daemon().start(() -> {
            while (true) {
                try {
                    Socket socket = echo.accept();
                    Thread.ofPlatform().daemon().start(() -> {
                        try (socket) {
                            socket.getInputStream().transferTo(socket.getOutputStream());
                        }
                        catch (IOException _) {
                            // the proxy cut it
                        }
                    });
                }
                catch (IOException _) {
                    return;
                }
            }
        });
        proxy = TcpProxy.open("127.0.0.1", 0);
        proxy.forwardTo("127.0.0.1", echo.getLocalPort());
    }

    @AfterEach
    void stop()
            throws IOException
    {
        proxy.close();
        echo.close();
    }

    @Test
    void testNoTrouble()
            throws Exception
    {
        assertThat(differentBits(exchange())).isZero();
    }

    @Test
    void testFlippedBits()
            throws Exception
    {
        proxy.set(Trouble.FLIPPED);
        // about 32 of them: both ways count
        assertThat(differentBits(exchange())).isBetween(1, 200);
        proxy.set(Trouble.NONE);
        assertThat(differentBits(exchange())).isZero();
    }

    @Test
    void testCut()
            throws Exception
    {
        proxy.set(Trouble.CUT);
        // of four million bytes, one piece in four is cut
        assertThatThrownBy(() -> {
            for (int round = 0; round < 4; round++) {
                exchange();
            }
        }).isInstanceOf(IOException.class);
        proxy.set(Trouble.NONE);
        assertThat(differentBits(exchange())).isZero();
    }

    @Test
    void testRefused()
            throws Exception
    {
        try (Socket open = connect()) {
            open.getOutputStream().write(1);
            assertThat(open.getInputStream().read()).isEqualTo(1);
            proxy.set(Trouble.REFUSED);
            assertThatThrownBy(() -> readToEnd(open)).isInstanceOf(IOException.class);
        }
        assertThatThrownBy(this::exchange).isInstanceOf(IOException.class);
        proxy.set(Trouble.NONE);
        assertThat(differentBits(exchange())).isZero();
    }

    @Test
    void testEndConnections()
            throws Exception
    {
        try (Socket open = connect()) {
            open.getOutputStream().write(1);
            assertThat(open.getInputStream().read()).isEqualTo(1);
            proxy.endConnections();
            assertThatThrownBy(() -> readToEnd(open)).isInstanceOf(IOException.class);
        }
        assertThat(differentBits(exchange())).isZero();
    }

    @Test
    void testStalled()
            throws Exception
    {
        proxy.set(Trouble.STALLED);
        try (Socket socket = connect()) {
            socket.getOutputStream().write(1);
            socket.setSoTimeout(300);
            assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
            proxy.set(Trouble.NONE);
            socket.setSoTimeout(0);
            assertThat(socket.getInputStream().read()).isEqualTo(1);
        }
    }

    @Test
    void testDelayed()
            throws Exception
    {
        proxy.set(Trouble.DELAYED);
        try (Socket socket = connect()) {
            long start = System.nanoTime();
            socket.getOutputStream().write(1);
            assertThat(socket.getInputStream().read()).isEqualTo(1);
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(10_000_000L);
        }
    }

    private Socket connect()
            throws IOException
    {
        return new Socket(InetAddress.getByName("127.0.0.1"), proxy.port());
    }

    private static void readToEnd(Socket socket)
            throws IOException
    {
        if (socket.getInputStream().read() < 0) {
            throw new IOException("the connection ended");
        }
    }

    private byte[] exchange()
            throws Exception
    {
        try (Socket socket = connect()) {
            Thread writer = Thread.ofPlatform().daemon().start(() -> {
                try {
                    OutputStream out = socket.getOutputStream();
                    out.write(sent());
                    socket.shutdownOutput();
                }
                catch (IOException _) {
                    // the reader sees it too
                }
            });
            InputStream in = socket.getInputStream();
            byte[] received = in.readNBytes(BYTES);
            writer.join();
            if (received.length < BYTES) {
                throw new IOException("only %s bytes came back".formatted(received.length));
            }
            return received;
        }
    }

    private static byte[] sent()
    {
        byte[] bytes = new byte[BYTES];
        Arrays.fill(bytes, (byte) 0x5a);
        return bytes;
    }

    private static int differentBits(byte[] received)
    {
        BitSet bits = BitSet.valueOf(received);
        bits.xor(BitSet.valueOf(sent()));
        return bits.cardinality();
    }
}
