package io.cachedhive.worker.server;

import io.cachedhive.worker.startup.StartupException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestListenSockets
{
    private static final InetSocketAddress LOOPBACK = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @TempDir
    private Path directory;

    private ListenSockets bind(Path socket)
    {
        return bind(socket, Optional.empty());
    }

    private static ListenSockets bind(Path socket, Optional<String> group)
    {
        return ListenSockets.bind(Optional.of(LOOPBACK), socket, new SocketAccess(group, List.of()));
    }

    private void assertRefused(Path socket, String message)
    {
        assertThatThrownBy(() -> bind(socket))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("cache.worker.socket-path=" + socket)
                .hasMessageContaining(message);
    }

    @Test
    void testOnlyTheOwnUserMayConnect()
            throws IOException
    {
        Path socket = directory.resolve("worker.sock");
        try (ListenSockets sockets = bind(socket)) {
            assertThat(sockets.socketPath()).isEqualTo(socket);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket))).isEqualTo("rw-------");
            SocketChannel.open(UnixDomainSocketAddress.of(socket)).close();
            SocketChannel.open(sockets.tcpAddress().orElseThrow()).close();
            // nothing else is left beside it
            try (Stream<Path> files = Files.list(directory)) {
                assertThat(files).containsExactly(socket);
            }
        }
        assertThat(socket).doesNotExist();
    }

    @Test
    void testGroupMayConnect()
            throws IOException
    {
        Path socket = directory.resolve("worker.sock");
        String group = Files.readAttributes(directory, PosixFileAttributes.class).group().getName();
        try (ListenSockets _ = bind(socket, Optional.of(group))) {
            PosixFileAttributes attributes = Files.readAttributes(socket, PosixFileAttributes.class);
            assertThat(PosixFilePermissions.toString(attributes.permissions())).isEqualTo("rw-rw----");
            assertThat(attributes.group().getName()).isEqualTo(group);
        }
    }

    @Test
    void testUnknownGroup()
    {
        Path socket = directory.resolve("worker.sock");
        assertThatThrownBy(() -> bind(socket, Optional.of("no-such-group-cachedhive")))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("cache.worker.socket-group=no-such-group-cachedhive: there is no such group");
        assertThat(socket).doesNotExist();
    }

    @Test
    void testUnknownUser()
    {
        Path socket = directory.resolve("worker.sock");
        SocketAccess access = new SocketAccess(Optional.empty(), List.of("root", "no-such-user-cachedhive"));
        assertThatThrownBy(() -> ListenSockets.bind(Optional.of(LOOPBACK), socket, access))
                .isInstanceOf(StartupException.class)
                .hasMessageStartingWith("cache.worker.socket-users=root,no-such-user-cachedhive: there is no user no-such-user-cachedhive on this host: create it, ");
        assertThat(socket).doesNotExist();
    }

    @Test
    void testFileOfADeadProcessIsReplaced()
            throws IOException
    {
        Path socket = directory.resolve("worker.sock");
        // closing a channel leaves the file
        ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket)).close();
        assertThat(socket).exists();

        try (ListenSockets _ = bind(socket)) {
            SocketChannel.open(UnixDomainSocketAddress.of(socket)).close();
        }
    }

    @Test
    void testSocketInUse()
    {
        Path socket = directory.resolve("worker.sock");
        try (ListenSockets _ = bind(socket)) {
            assertRefused(socket, "another process answers on this socket: stop it, or choose another path");
            assertThat(socket).exists();
        }
    }

    @Test
    void testFileThatIsNoSocket()
            throws IOException
    {
        Path socket = directory.resolve("worker.sock");
        Files.writeString(socket, "precious");
        assertRefused(socket, "is not a socket");
        assertThat(socket).hasContent("precious");
    }

    @Test
    void testDirectoryMissing()
    {
        assertRefused(directory.resolve("missing").resolve("worker.sock"), "does not exist: create it");
    }

    @Test
    void testPathTooLong()
    {
        assertRefused(directory.resolve("x".repeat(120)), "is longer than the 106 bytes");
    }

    @Test
    void testLongestPath()
            throws IOException
    {
        Path socket = directory.resolve("x".repeat(106 - directory.toString().length() - 1));
        assertThat(socket.toString()).hasSize(106);
        try (ListenSockets _ = bind(socket)) {
            SocketChannel.open(UnixDomainSocketAddress.of(socket)).close();
        }
    }

    @Test
    void testFileOfASuccessorStays()
            throws IOException
    {
        Path socket = directory.resolve("worker.sock");
        ListenSockets sockets = bind(socket);
        Files.delete(socket);
        try (ListenSockets _ = bind(socket)) {
            sockets.close();
            SocketChannel.open(UnixDomainSocketAddress.of(socket)).close();
        }
    }

    @Test
    void testPortInUse()
    {
        Path socket = directory.resolve("worker.sock");
        try (ListenSockets sockets = bind(directory.resolve("other.sock"))) {
            int port = sockets.tcpAddress().orElseThrow().getPort();
            assertThatThrownBy(() -> ListenSockets.bind(Optional.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)), socket, SocketAccess.OWN_USER))
                    .isInstanceOf(StartupException.class)
                    .hasMessageStartingWith("cache.worker.port=%s: cannot listen on 127.0.0.1:%s (".formatted(port, port))
                    .hasMessageEndingWith("stop what listens there, or choose another port or node.bind-ip");
        }
        assertThat(socket).doesNotExist();
    }
}
