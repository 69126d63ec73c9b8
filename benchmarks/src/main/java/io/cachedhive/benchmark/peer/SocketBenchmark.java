package io.cachedhive.benchmark.peer;

import io.cachedhive.transport.tls.TlsContexts;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import javax.net.SocketFactory;

import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import static java.nio.charset.StandardCharsets.US_ASCII;

/**
 * The least that a read from another process can cost: a position goes out, bytes come back, over one connection on loopback, plain or with the sockets of Java for TLS.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SocketBenchmark
{
    private static final int FILE_BYTES = 128 << 20;

    @Param("1048576")
    public int readBytes;

    @Param("false")
    public boolean tls;

    private final SplittableRandom random = new SplittableRandom(483);
    private Process server;
    private Socket socket;
    private DataOutputStream out;
    private InputStream in;
    private byte[] target;

    @Setup
    public void setup()
            throws IOException
    {
        server = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:MaxDirectMemorySize=" + 2 * FILE_BYTES,
                "-cp",
                System.getProperty("java.class.path"),
                SocketServer.class.getName(),
                Integer.toString(FILE_BYTES),
                Integer.toString(readBytes),
                Boolean.toString(tls))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader lines = new BufferedReader(new InputStreamReader(server.getInputStream(), US_ASCII));
        String port = lines.readLine();
        if (port == null) {
            throw new IOException("the server ended before it listened");
        }
        SocketFactory factory = tls ? TlsContexts.secretClient().getSocketFactory() : SocketFactory.getDefault();
        socket = factory.createSocket(SocketServer.ADDRESS, Integer.parseInt(port));
        socket.setTcpNoDelay(true);
        out = new DataOutputStream(socket.getOutputStream());
        in = socket.getInputStream();
        target = new byte[readBytes];
    }

    @TearDown
    public void tearDown()
            throws IOException, InterruptedException
    {
        socket.close();
        server.waitFor();
    }

    @Benchmark
    public byte[] read()
            throws IOException
    {
        out.writeLong((long) random.nextInt(FILE_BYTES / readBytes) * readBytes);
        if (in.readNBytes(target, 0, readBytes) != readBytes) {
            throw new IOException("the server closed the connection");
        }
        return target;
    }
}
