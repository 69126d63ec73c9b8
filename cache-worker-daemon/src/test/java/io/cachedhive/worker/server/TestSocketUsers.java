package io.cachedhive.worker.server;

import com.google.common.collect.ImmutableList;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.StatusMessage.Ping;
import io.cachedhive.worker.testing.WireClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@Timeout(120)
class TestSocketUsers
{
    private static final String OTHER_USER = "65534";

    private static UserPrincipal user(String name)
            throws IOException
    {
        return FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(name);
    }

    @Test
    void testUsersByNameAndNumber()
            throws IOException
    {
        SocketUsers users = SocketUsers.of(List.of("daemon", "12345"));
        assertThat(users.admits(user("daemon"))).isTrue();
        assertThat(users.admits(user("12345"))).isTrue();
        assertThat(users.admits(user("root"))).isTrue();
        assertThat(users.admits(Files.getOwner(Path.of("/proc/self")))).isTrue();
        assertThat(users.admits(user("12346"))).isFalse();
    }

    @Test
    void testPermissionsDecideWithoutAList()
            throws IOException
    {
        assertThat(SocketUsers.of(List.of()).admits(user("12346"))).isTrue();
    }

    /**
     * A process that the permissions of the file admit, and the list does not.
     */
    @Test
    void testProcessOfAnotherUser(@TempDir Path directory)
            throws IOException, InterruptedException
    {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")) && user("root").equals(Files.getOwner(Path.of("/proc/self"))), "needs root and setpriv");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path program = directory.resolve("Peer.java");
        Files.writeString(program, """
                import java.net.UnixDomainSocketAddress;
                import java.nio.ByteBuffer;
                import java.nio.channels.SocketChannel;

                class Peer
                {
                    public static void main(String[] arguments)
                            throws Exception
                    {
                        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(arguments[0]))) {
                            ByteBuffer received = ByteBuffer.allocate(10_000);
                            while (channel.read(received) >= 0) {}
                            System.out.write(received.array(), 0, received.position());
                            System.out.flush();
                        }
                    }
                }
                """);
        PeerRefusals refusals = new PeerRefusals();
        Path socket = directory.resolve("w.sock");
        SocketAccess access = new SocketAccess(Optional.of(OTHER_USER), List.of("daemon"));
        ListenSockets sockets = ListenSockets.bind(Optional.empty(), socket, access);
        try (BlockServer server = new BlockServer(
                sockets,
                Secrets.NONE,
                TlsMode.REQUIRED,
                Optional.empty(),
                // the other process is a JVM that has to start
                new BlockServer.Limits(Duration.ofHours(1), 64, Duration.ofHours(1), 64 << 20, 256, 64),
                new PlainWelcomer(),
                new AckHandler(),
                refusals)) {
            server.start();
            Process process = new ProcessBuilder(
                    "/usr/bin/setpriv", "--reuid", OTHER_USER, "--regid", OTHER_USER, "--clear-groups",
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(), program.toString(), socket.toString())
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), UTF_8);
            assertThat(process.waitFor()).as(output).isZero();
            assertThat(output).contains("may not connect to this socket: add it to cache.worker.socket-users of the cache worker");
            assertThat(refusals.count()).isEqualTo(1);
            // the user of this process is served
            try (WireClient own = WireClient.connect(UnixDomainSocketAddress.of(socket), Optional.empty(), "catalog", List.of())) {
                assertThat(own.ask(new Ping())).isEqualTo(new Ack());
            }
        }
    }

    private static final class PlainWelcomer
            implements Welcomer
    {
        @Override
        public CacheWorkerId worker()
        {
            return new CacheWorkerId("worker");
        }

        @Override
        public Session session(Hello hello)
        {
            return new Session(hello.cluster(), hello.catalog(), hello.node(), ImmutableList.of());
        }

        @Override
        public Welcome welcome(Session session, Transport transport)
        {
            return new Welcome(new CacheWorkerId("worker"), new Digest128(1, 2), 1 << 20, "", true, ImmutableList.of());
        }
    }

    private static final class AckHandler
            implements RequestHandler
    {
        @Override
        public void handle(Connection connection, long requestId, Message request)
        {
            connection.send(requestId, request instanceof Ping ? new Ack() : new ControlMessage.Error("not expected"));
        }

        @Override
        public void closed(Connection connection) {}
    }
}
