package io.cachedhive.attack.setting;

import io.cachedhive.attack.wire.RefusedException;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.FillMessage.Fill;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockLease;
import io.cachedhive.protocol.wire.ReadMessage.Fetching;
import io.cachedhive.protocol.wire.StatusMessage.GetStats;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.testing.cluster.home.CacheWorkerHome;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;

import static java.util.Objects.requireNonNull;

/**
 * A cache worker that is attacked, and what this program may use beside the attack.
 *
 * @param address its block port
 * @param secret the shared secret, for a legitimate client
 * @param socket its Unix socket
 * @param client a legitimate client; present if the secret is
 * @param own the cache workers of this program, of which the first one is attacked
 * @param sample a block that the cache has; see {@link #cache}
 */
public record Target(
        WorkerAddress address,
        Optional<HttpApi> http,
        Optional<String> secret,
        Optional<Path> socket,
        Optional<Client> client,
        Optional<OwnWorkers> own,
        Sample sample)
{
    public Target
    {
        requireNonNull(address, "address is null");
        requireNonNull(http, "http is null");
        requireNonNull(secret, "secret is null");
        requireNonNull(socket, "socket is null");
        requireNonNull(client, "client is null");
        requireNonNull(own, "own is null");
        requireNonNull(sample, "sample is null");
    }

    /**
     * Returns a cache worker of this machine, with all that attacks need.
     *
     * @param client has the secret of the cache worker
     * @param own the cache workers of which it is the first one; empty if it is not started for attacks
     */
    public static Target of(CacheWorkerHome home, Client client, Optional<OwnWorkers> own)
    {
        return new Target(
                new WorkerAddress(home.address(), home.workerPort()),
                Optional.of(new HttpApi(home.httpUri())),
                Optional.of(home.sharedSecret()),
                Optional.of(home.socketPath()),
                Optional.of(client),
                own,
                Sample.of("sample"));
    }

    /**
     * Whether the block port of a cache worker accepts a secret.
     *
     * @throws IOException if it does not answer
     */
    public static boolean accepts(CacheWorkerHome home, String secret)
            throws IOException
    {
        try (WireConnection connection = WireConnection.tls(new InetSocketAddress(home.address(), home.workerPort()))) {
            connection.establish(Optional.of(secret), Sample.ORIGINS);
            return true;
        }
        catch (RefusedException _) {
            return false;
        }
    }

    @Override
    public String toString()
    {
        // without the secret
        return address.toString();
    }

    public InetSocketAddress socketAddress()
    {
        return new InetSocketAddress(address.host(), address.port());
    }

    /**
     * Connects as a holder of the secret.
     */
    public WireConnection member()
            throws IOException
    {
        return member(WireConnection.LIFETIME);
    }

    public WireConnection member(Duration lifetime)
            throws IOException
    {
        WireConnection connection = WireConnection.tls(socketAddress(), lifetime);
        try {
            connection.establish(Optional.of(secret.orElseThrow()), Sample.ORIGINS);
            return connection;
        }
        catch (IOException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    /**
     * Connects to the Unix socket without the secret.
     */
    public WireConnection reader()
            throws IOException
    {
        WireConnection connection = WireConnection.unix(socket.orElseThrow());
        try {
            connection.establish(Optional.empty(), Sample.ORIGINS);
            return connection;
        }
        catch (IOException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    /**
     * Whether a legitimate client can read: it needs the secret or the socket.
     */
    public boolean canRead()
    {
        return secret.isPresent() || socket.isPresent();
    }

    /**
     * Connects to the Unix socket, or as a holder of the secret.
     */
    public WireConnection connect()
            throws IOException
    {
        return socket.isPresent() ? reader() : member();
    }

    /**
     * Puts a block into the cache, as a client does that reads a file for the cache worker.
     */
    public void cache(Sample block)
            throws IOException
    {
        try (WireConnection connection = connect()) {
            long request = connection.nextRequest();
            connection.send(request, block.read(true));
            while (true) {
                switch (connection.awaitAnswer(request)) {
                    case Fetching _ -> {}
                    case BlockBytes _ -> {
                        return;
                    }
                    case BlockLease lease -> {
                        byte[] bytes = block.bytes();
                        CRC32C checksum = new CRC32C();
                        checksum.update(bytes);
                        Fill fill = new Fill(lease.lease(), block.file().length(), block.file().lastModifiedMillis(), (int) checksum.getValue(), ByteBuffer.wrap(bytes));
                        Message answer = connection.ask(fill);
                        if (answer instanceof ControlMessage.Error error) {
                            throw new IOException("the cache worker did not accept a block: " + error.message());
                        }
                        return;
                    }
                    case Message other -> throw new IOException("the cache worker answered a read with " + other);
                }
            }
        }
    }

    /**
     * Reads a block as a legitimate client.
     *
     * @throws IOException if the cache worker does not answer, or does not have the block
     */
    public byte[] read(Sample block)
            throws IOException, InterruptedException
    {
        if (client.isPresent()) {
            return client.get().read(address, Optional.empty(), block);
        }
        try (WireConnection connection = reader()) {
            Message answer = connection.ask(block.read(false));
            if (!(answer instanceof BlockBytes bytes)) {
                throw new IOException("the cache worker answered a read with " + answer);
            }
            byte[] result = new byte[bytes.payload().remaining()];
            bytes.payload().duplicate().get(result);
            return result;
        }
    }

    /**
     * Whether the cache has a block.
     */
    public boolean isCached(Sample block)
            throws IOException
    {
        try (WireConnection connection = connect()) {
            return connection.ask(block.read(false)) instanceof BlockBytes;
        }
    }

    /**
     * Checks that the cache has the right bytes of a block.
     *
     * @throws IOException if it has not
     */
    public void checkCached(Sample block)
            throws IOException, InterruptedException
    {
        if (!Arrays.equals(read(block), block.bytes())) {
            throw new IOException("the cache worker sent wrong bytes of " + block.file().location());
        }
    }

    /**
     * Checks that the cache worker serves: a legitimate client reads a block, and the HTTP API answers. Without the
     * secret and the socket, the cache worker must at least answer a HELLO.
     *
     * @throws IOException with the reason, if it does not
     */
    public void checkServes()
            throws IOException, InterruptedException
    {
        if (canRead()) {
            checkCached(sample);
        }
        else {
            try (WireConnection connection = WireConnection.tls(socketAddress())) {
                connection.send(0, WireConnection.newHello(Sample.ORIGINS));
                connection.expect(Challenge.class);
            }
        }
        if (http.isPresent()) {
            int status = secret.isPresent() ? http.get().prove("/v1/status", secret.get()).statusCode() : http.get().send("GET", "/v1/status").statusCode();
            if (status != (secret.isPresent() ? 200 : 401)) {
                throw new IOException("the HTTP API answered the request for the status with %s".formatted(status));
            }
        }
    }

    /**
     * Returns the counters and gauges of the cache worker, for which the secret is not needed at the socket.
     */
    public Stats stats()
            throws IOException
    {
        try (WireConnection connection = connect()) {
            Message answer = connection.ask(new GetStats());
            if (answer instanceof Stats stats) {
                return stats;
            }
            throw new IOException("the cache worker answered a request for its counters with " + answer);
        }
    }
}
