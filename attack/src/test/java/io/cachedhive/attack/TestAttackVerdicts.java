package io.cachedhive.attack;

import com.sun.net.httpserver.HttpServer;
import io.cachedhive.attack.StandIn.Hole;
import io.cachedhive.attack.load.Flood;
import io.cachedhive.attack.load.Heap;
import io.cachedhive.attack.load.Slowloris;
import io.cachedhive.attack.load.Stall;
import io.cachedhive.attack.path.AddressReuse;
import io.cachedhive.attack.path.Flip;
import io.cachedhive.attack.path.Relay;
import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.role.QuotaZero;
import io.cachedhive.attack.role.ReaderFlush;
import io.cachedhive.attack.role.RingFromFuture;
import io.cachedhive.attack.role.TombstoneFromFuture;
import io.cachedhive.attack.setting.Client;
import io.cachedhive.attack.setting.HttpApi;
import io.cachedhive.attack.setting.ProductClient;
import io.cachedhive.attack.setting.Sample;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.stranger.Downgrade;
import io.cachedhive.attack.stranger.LocalPoison;
import io.cachedhive.attack.stranger.TokenReplay;
import io.cachedhive.attack.wire.Listener;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.transport.tls.TlsContexts;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import javax.net.ssl.SSLContext;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The attacks succeed against a cache worker with the hole that they look for, and against a client with it. Against a
 * stand-in without holes they do not.
 */
@Timeout(120)
@Tag("slow")
class TestAttackVerdicts
{
    private static final Pressure PRESSURE = new Pressure(Duration.ofSeconds(1), OptionalInt.of(60), 0.5);

    @TempDir
    private Path directory;

    private StandIn standIn(Hole... holes)
            throws IOException
    {
        return new StandIn(directory, holes);
    }

    private static Optional<String> run(Attack attack, Target target)
            throws Exception
    {
        return attack.run(target, PRESSURE);
    }

    private static String success(Attack attack, Target target)
            throws Exception
    {
        return run(attack, target).orElse("refused");
    }

    @Test
    void testWithoutHoles()
            throws Exception
    {
        try (StandIn server = standIn(); ProductClient client = new ProductClient(StandIn.SECRET)) {
            Target target = server.target(Optional.of(client), Optional.empty());
            AttackRunner runner = new AttackRunner(target, PRESSURE);
            for (Attack attack : new Attack[] {new LocalPoison(), new Relay(), new Flip(), new AddressReuse(), new Stall()}) {
                assertThat(runner.run(attack)).as(attack.name()).isEmpty();
            }
            assertThat(run(new RingFromFuture(), target)).isEmpty();
            assertThat(run(new TombstoneFromFuture(), target)).isEmpty();
            assertThat(runner.run(new QuotaZero())).isEmpty();
            assertThat(runner.run(new ReaderFlush())).isEmpty();
        }
    }

    @Test
    void testLocalPoison()
            throws Exception
    {
        try (StandIn server = standIn(Hole.WITHOUT_PROOF)) {
            assertThat(success(new LocalPoison(), server.strangersTarget(Optional.empty()))).contains("with an empty proof", "on the block port");
        }
    }

    @Test
    void testLocalPoisonWithoutTls()
            throws Exception
    {
        try (StandIn server = standIn(Hole.WITHOUT_PROOF, Hole.WITHOUT_TLS)) {
            assertThat(success(new LocalPoison(), server.strangersTarget(Optional.empty()))).contains("a peer without TLS");
        }
    }

    @Test
    void testOpenHttpApi()
            throws Exception
    {
        HttpServer http = http();
        try (StandIn server = standIn(); Client client = new CarelessClient()) {
            Optional<HttpApi> api = Optional.of(new HttpApi(URI.create("http://127.0.0.1:" + http.getAddress().getPort())));
            assertThat(success(new TokenReplay(), server.target(Optional.of(client), api))).contains("used proof", "status 200 instead of 401");
            assertThat(success(new LocalPoison(), server.strangersTarget(api))).contains("POST /v1/drain without a proof");
        }
        finally {
            http.stop(0);
        }
    }

    /**
     * Accepts every proof at any time, and a drain without one.
     */
    private static HttpServer http()
            throws IOException
    {
        HttpServer http = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        http.createContext("/", exchange -> {
            boolean open = exchange.getRequestHeaders().containsKey("Authorization") ||
                    (exchange.getRequestMethod().equals("POST") && exchange.getRequestURI().getPath().equals("/v1/drain"));
            exchange.getResponseHeaders().add("WWW-Authenticate", "CachedHive nonce=\"n\", worker=\"w\"");
            exchange.sendResponseHeaders(open ? 200 : 401, -1);
            exchange.close();
        });
        http.start();
        return http;
    }

    @Test
    void testDowngradedServer()
            throws Exception
    {
        try (StandIn server = standIn(Hole.WITHOUT_TLS)) {
            assertThat(success(new Downgrade(), server.strangersTarget(Optional.empty()))).isEqualTo("the cache worker accepted a HELLO without TLS");
        }
        try (StandIn server = new StandIn(Files.createDirectory(directory.resolve("second")))) {
            assertThat(success(new Downgrade(), server.strangersTarget(Optional.empty()))).isEqualTo("the cache worker accepted a HELLO of the protocol version 0");
        }
    }

    @Test
    void testDowngradedClient()
            throws Exception
    {
        SSLContext tls = TlsContexts.selfSignedServer();
        // of which no attack on the cache worker itself gets an answer
        try (Listener closed = Listener.start(connection -> WireConnection.accepted(connection, tls, WireConnection.LIFETIME).close()); Client client = new CarelessClient()) {
            Optional<String> secret = Optional.of(StandIn.SECRET);
            Target target = new Target(closed.address(), Optional.empty(), secret, Optional.empty(), Optional.of(client), Optional.empty(), Sample.of("sample"));
            assertThat(success(new Downgrade(), target)).isEqualTo("a client sent a HELLO without TLS");
        }
    }

    @Test
    void testRelayedProof()
            throws Exception
    {
        try (StandIn server = standIn(Hole.WITHOUT_BINDING); Client client = new CarelessClient()) {
            assertThat(success(new Relay(), server.target(Optional.of(client), Optional.empty()))).isEqualTo("a client read a block over two TLS connections");
        }
    }

    @Test
    void testFlip()
            throws Exception
    {
        try (StandIn server = standIn(); ProductClient client = new ProductClient(StandIn.SECRET)) {
            Client zeros = new Substitute(client, new byte[1]);
            assertThat(success(new Flip(), server.target(Optional.of(zeros), Optional.empty()))).isEqualTo("a client got wrong bytes");
            Client unaware = new Substitute(client, Sample.of("sample").bytes());
            assertThat(success(new Flip(), server.target(Optional.of(unaware), Optional.empty()))).startsWith("a connection went on after record 0");
        }
    }

    /**
     * Returns bytes instead of a failure.
     */
    private record Substitute(Client client, byte[] bytes)
            implements Client
    {
        @Override
        public byte[] read(WorkerAddress address, Optional<CacheWorkerId> worker, Sample sample)
                throws InterruptedException
        {
            try {
                return client.read(address, worker, sample);
            }
            catch (IOException _) {
                return bytes;
            }
        }

        @Override
        public void close() {}
    }

    @Test
    void testAddressReuse()
            throws Exception
    {
        try (StandIn server = standIn(); Client client = new CarelessClient()) {
            Target target = server.target(Optional.of(client), Optional.empty());
            assertThat(success(new AddressReuse(), target)).isEqualTo("a client read a block from a fake cache worker without a proof");
        }
    }

    @Test
    void testRoles()
            throws Exception
    {
        try (StandIn server = standIn(Hole.WITHOUT_ROLES, Hole.WITHOUT_TIMES); ProductClient client = new ProductClient(StandIn.SECRET)) {
            Target target = server.target(Optional.of(client), Optional.empty());
            assertThat(success(new QuotaZero(), target)).isEqualTo("a process without the secret got no error for TABLE_QUOTA");
            for (Attack attack : new Attack[] {new RingFromFuture(), new TombstoneFromFuture(), new ReaderFlush()}) {
                assertThat(success(attack, target)).as(attack.name()).startsWith("a process without the secret got the answer ACK");
            }
        }
    }

    @Test
    void testTimes()
            throws Exception
    {
        try (StandIn server = standIn(Hole.WITHOUT_TIMES); ProductClient client = new ProductClient(StandIn.SECRET)) {
            Target target = server.target(Optional.of(client), Optional.empty());
            for (Attack attack : new Attack[] {new RingFromFuture(), new TombstoneFromFuture()}) {
                assertThat(success(attack, target)).as(attack.name()).startsWith("a holder of the secret got the answer ACK");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"stall", "slowloris", "flood", "heap"})
    void testServerThatEnds(String name)
            throws Exception
    {
        try (StandIn server = standIn(Hole.FRAGILE); ProductClient client = new ProductClient(StandIn.SECRET)) {
            AttackRunner runner = new AttackRunner(server.target(Optional.of(client), Optional.empty()), PRESSURE);
            assertThat(runner.run(attack(name))).isPresent();
        }
    }

    private static Attack attack(String name)
    {
        return switch (name) {
            case "stall" -> new Stall();
            case "slowloris" -> new Slowloris();
            case "flood" -> new Flood();
            default -> new Heap();
        };
    }

    @Test
    void testRefusalsMustBeCounted()
            throws Exception
    {
        try (StandIn server = standIn(Hole.WITHOUT_COUNTERS); ProductClient client = new ProductClient(StandIn.SECRET)) {
            AttackRunner runner = new AttackRunner(server.target(Optional.of(client), Optional.empty()), PRESSURE, Duration.ofMillis(200));
            assertThat(runner.run(new QuotaZero())).contains("the cache worker counted no rejected connection and no rejected request");
        }
    }
}
