package io.cachedhive.attack;

import io.cachedhive.attack.setting.Client;
import io.cachedhive.attack.setting.HttpApi;
import io.cachedhive.attack.setting.Sample;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.wire.Listener;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.security.HandshakeProof.Side;
import io.cachedhive.protocol.security.HandshakeProof.Transcript;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.FillMessage.OfferGuest;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.InvalidationMessage.Flush;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.OriginStatus;
import io.cachedhive.protocol.wire.PolicyMessage.TableQuota;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.RingMessage.PublishRing;
import io.cachedhive.protocol.wire.StatusMessage.GetStats;
import io.cachedhive.protocol.wire.StatusMessage.Ping;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.transport.tls.TlsContexts;

import javax.net.ssl.SSLContext;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import static java.util.Objects.requireNonNull;

/**
 * A cache worker with security holes. Without a hole it refuses what a cache worker refuses, as far as the attacks try.
 */
final class StandIn
        implements AutoCloseable
{
    static final String SECRET = "fS9mD2kqLwz0Yb4nT7rXcVuE1hJgP6oA";
    private static final CacheWorkerId ID = new CacheWorkerId("stand-in");
    private static final int FRAGILE_CONNECTIONS = 3;
    // as long as a test takes: a client keeps its connection during all attacks
    private static final Duration LIFETIME = Duration.ofMinutes(10);

    enum Hole
    {
        /** Accepts peers that do not know the secret. */
        WITHOUT_PROOF,
        /** Speaks without TLS. */
        WITHOUT_TLS,
        /** The proof does not cover the TLS connection. */
        WITHOUT_BINDING,
        /** Processes that may read may do everything. */
        WITHOUT_ROLES,
        /** Accepts every time. */
        WITHOUT_TIMES,
        /** Ends when many connect. */
        FRAGILE,
        /** Does not count what it refuses. */
        WITHOUT_COUNTERS,
    }

    private final Set<Hole> holes;
    private final SSLContext tls = TlsContexts.selfSignedServer();
    private final Sample sample = Sample.of("sample");
    private final Listener listener;
    private final ServerSocketChannel unix;
    private final Path socket;
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger rejected = new AtomicInteger();

    StandIn(Path directory, Hole... holes)
            throws IOException
    {
        requireNonNull(directory, "directory is null");
        this.holes = EnumSet.noneOf(Hole.class);
        this.holes.addAll(List.of(holes));
        socket = directory.resolve("s");
        unix = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket));
        Thread.ofPlatform().daemon().start(this::acceptUnix);
        listener = Listener.start(connection -> {
            if (this.holes.contains(Hole.FRAGILE) && connections.incrementAndGet() > FRAGILE_CONNECTIONS) {
                close();
            }
            if (this.holes.contains(Hole.WITHOUT_TLS)) {
                serve(WireConnection.accepted(connection, LIFETIME), false);
            }
            else {
                try {
                    serve(WireConnection.accepted(connection, tls, LIFETIME), false);
                }
                catch (IOException e) {
                    count();
                    throw e;
                }
            }
        });
    }

    /**
     * The stand-in as a target.
     */
    Target target(Optional<Client> client, Optional<HttpApi> http)
    {
        return new Target(listener.address(), http, client.map(_ -> SECRET), Optional.of(socket), client, Optional.empty(), sample);
    }

    /**
     * The stand-in as a target of a stranger.
     */
    Target strangersTarget(Optional<HttpApi> http)
    {
        return new Target(listener.address(), http, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), sample);
    }

    private void acceptUnix()
    {
        try {
            while (true) {
                SocketChannel connection = unix.accept();
                Thread.ofPlatform().daemon().start(() -> {
                    try {
                        serve(WireConnection.accepted(connection, LIFETIME), true);
                    }
                    catch (IOException _) {
                        // the peer ended it
                    }
                });
            }
        }
        catch (IOException _) {
            // closed
        }
    }

    private void count()
    {
        if (!holes.contains(Hole.WITHOUT_COUNTERS)) {
            rejected.incrementAndGet();
        }
    }

    private void serve(WireConnection connection, boolean reader)
            throws IOException
    {
        try (connection) {
            Hello hello = connection.expect(Hello.class);
            Challenge unsigned = new Challenge(Message.MAX_VERSION, !holes.contains(Hole.WITHOUT_PROOF), hello.nonce(), ID, List.of());
            Transcript transcript = holes.contains(Hole.WITHOUT_BINDING) ?
                    new Transcript(hello, Message.MAX_VERSION, hello.nonce(), ID, new byte[0]) :
                    connection.transcript(hello, unsigned);
            connection.send(0, new Challenge(Message.MAX_VERSION, unsigned.proofRequired(), hello.nonce(), ID, List.of(HandshakeProof.prove(SECRET, Side.SERVER, transcript))));
            Proof proof = connection.expect(Proof.class);
            OptionalInt proven = HandshakeProof.verify(List.of(SECRET), Side.CLIENT, transcript, List.of(proof.proof()));
            if (!reader && !holes.contains(Hole.WITHOUT_PROOF) && proven.isEmpty()) {
                throw new IOException("no proof");
            }
            connection.send(0, new Welcome(ID, new Digest128(1, 1), 1 << 20, "", false, List.of(OriginStatus.KNOWN)));
            while (true) {
                WireConnection.Frame request = connection.receiveFrame();
                Optional<Message> answer = answer(request.message(), reader && proven.isEmpty());
                if (answer.isPresent()) {
                    connection.send(request.request(), answer.get());
                }
            }
        }
    }

    private Optional<Message> answer(Message request, boolean reader)
    {
        return switch (request) {
            case Read read -> Optional.of(read.file().equals(sample.file()) ? sample.answer() : new BlockNo(0, NoCause.ABSENT));
            case GetStats _ -> Optional.of(new Stats(
                    new Pong(ID, new Digest128(1, 1), "1", "RUNNING", 1, Optional.empty(), 1, 0, new RingEpoch(0), 0),
                    0,
                    Optional.empty(),
                    Map.of(CounterNames.REJECTED_CONNECTIONS, (long) rejected.get(), CounterNames.REJECTED_REQUESTS, 0L),
                    Map.of(CounterNames.CONNECTIONS, 1L)));
            case OfferGuest _ -> Optional.empty();
            case Ping _ -> Optional.of(new ControlMessage.Ack());
            case Message _ when reader && !holes.contains(Hole.WITHOUT_ROLES) -> refuse();
            case TableQuota _ -> Optional.empty();
            case PublishRing publish when publish.ring().publishedMillis() > System.currentTimeMillis() && !holes.contains(Hole.WITHOUT_TIMES) -> refuse();
            case Flush flush when flush.tombstones().getFirst().createdMillis() > System.currentTimeMillis() && !holes.contains(Hole.WITHOUT_TIMES) -> refuse();
            default -> Optional.of(new ControlMessage.Ack());
        };
    }

    private Optional<Message> refuse()
    {
        count();
        return Optional.of(new ControlMessage.Error("refused"));
    }

    @Override
    public void close()
            throws IOException
    {
        listener.close();
        unix.close();
    }
}
