package io.cachedhive.testing.cluster;

import com.sun.net.httpserver.HttpServer;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.home.TrinoHome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.attribute.PosixFilePermissions.fromString;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A node's life, with a shell script where the launcher would be. */
class TestClusterNode
{
    @TempDir
    private Path directory;

    @Test
    void testDeathDuringStartIsTold()
            throws Exception
    {
        ClusterNode node = node("echo first run; echo configuration is wrong >&2; exit 100", 1);
        node.start();
        assertThatThrownBy(node::awaitReady)
                .isInstanceOf(ClusterException.class)
                .hasMessageStartingWith("node ended with exit code 100; the end of " + node.logFile())
                .hasMessageContaining("first run\nconfiguration is wrong");
        assertThat(node.exitCode()).hasValue(100);
        assertThatThrownBy(node::checkAlive).isInstanceOf(ClusterException.class);
    }

    @Test
    void testReadyWhenServerHasStarted()
            throws Exception
    {
        AtomicReference<String> info = new AtomicReference<>("{\"starting\":true}");
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/v1/info", exchange -> {
            byte[] body = info.get().getBytes(UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        ClusterNode node = node("exec sleep 600", server.getAddress().getPort());
        try {
            node.start();
            assertThat(node.isReady()).isFalse();
            assertThatThrownBy(() -> node.awaitReady(Duration.ofMillis(1)))
                    .isInstanceOf(ClusterException.class)
                    .hasMessageStartingWith("node was not ready within PT0.001S");
            info.set("{\"nodeVersion\":{\"version\":\"483\"}, \"starting\" : false}");
            node.awaitReady();
            assertThatThrownBy(node::start).hasMessage("node runs already, pid " + node.pid());
        }
        finally {
            node.kill();
            server.stop(0);
        }
    }

    @Test
    void testKillAndStop()
            throws Exception
    {
        ClusterNode node = node("exec sleep 600", 1);
        node.start();
        long pid = node.pid();
        assertThat(ProcessHandle.of(pid)).isPresent();
        node.checkAlive();
        node.kill();
        assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
        assertThat(node.exitCode()).hasValue(137);
        // what was killed on purpose is not missed
        node.checkAlive();

        node.start();
        assertThat(node.pid()).isNotEqualTo(pid);
        assertThat(node.exitCode()).isEmpty();
        node.stop();
        assertThat(node.isAlive()).isFalse();
        assertThat(node.exitCode()).hasValue(143);
        node.checkAlive();
    }

    @Test
    void testEndsBySelfWhenAsked()
            throws Exception
    {
        Path stop = directory.resolve("stop");
        List<String> requests = new CopyOnWriteArrayList<>();
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/v1/info/state", exchange -> {
            requests.add(exchange.getRequestMethod() + " " + new String(exchange.getRequestBody().readAllBytes(), UTF_8));
            exchange.sendResponseHeaders(requests.size() == 1 ? 403 : 200, -1);
            exchange.close();
        });
        server.start();
        ClusterNode node = node("while [ ! -e %s ]; do sleep 0.1; done; exit 3".formatted(stop), server.getAddress().getPort());
        try {
            node.start();
            assertThatThrownBy(node::shutDownGracefully).hasMessage("node answered PUT /v1/info/state with 403: ");
            node.shutDownGracefully();
            assertThat(requests).containsExactly("PUT \"SHUTTING_DOWN\"", "PUT \"SHUTTING_DOWN\"");
            assertThatThrownBy(() -> node.awaitEnd(Duration.ofMillis(1))).hasMessageStartingWith("node did not end within PT0.001S");
            Files.createFile(stop);
            assertThat(node.awaitEnd(Duration.ofMinutes(1))).isEqualTo(3);
            // what ended because it was asked to is not missed
            node.checkAlive();
            assertThatThrownBy(() -> node.drain(Duration.ZERO)).hasMessage("node is no cache worker");
        }
        finally {
            node.kill();
            server.stop(0);
        }
    }

    @Test
    void testUnexpectedDeathIsNoticed()
            throws Exception
    {
        ClusterNode node = node("exec sleep 600", 1);
        node.start();
        ProcessHandle process = ProcessHandle.of(node.pid()).orElseThrow();
        process.destroyForcibly();
        process.onExit().get();
        // the process that was started may be told after its handle
        Await.until("the node has ended", () -> !node.isAlive());
        assertThatThrownBy(node::checkAlive).hasMessageStartingWith("node ended with exit code 137");
    }

    @Test
    void testLeftoverOfKilledProgramIsStopped()
            throws Exception
    {
        ClusterNode node = node("exec sleep 600", 1);
        node.start();
        long pid = node.pid();
        List<String> progress = new ArrayList<>();
        ProcessFile.stopLeftovers(directory, progress::add);
        assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
        assertThat(progress).containsExactly("stopping node of an earlier run, pid " + pid);

        // a process that only has the same pid is left alone
        progress.clear();
        Files.writeString(directory.resolve("node/var/run/process"), ProcessHandle.current().pid() + " 2001-01-01T00:00:00Z");
        ProcessFile.stopLeftovers(directory, progress::add);
        assertThat(progress).isEmpty();
        ProcessFile.stopLeftovers(directory.resolve("absent"), progress::add);
    }

    @Test
    void testLogTail()
            throws Exception
    {
        ClusterNode node = node("for i in 1 2 3 4 5; do echo line $i; done; exit 1", 1);
        assertThat(node.logTail(3)).isEmpty();
        node.start();
        assertThatThrownBy(node::awaitReady).isInstanceOf(ClusterException.class);
        assertThat(node.logTail(3)).containsExactly("line 3", "line 4", "line 5");
    }

    private ClusterNode node(String script, int httpPort)
            throws Exception
    {
        Path launcher = directory.resolve("node/bin/launcher");
        Files.createDirectories(launcher.getParent());
        Files.writeString(launcher, "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(launcher, fromString("rwxr-xr-x"));
        return ClusterNode.of("node", new TrinoHome(directory.resolve("node"), "node", "127.0.0.1", URI.create("http://127.0.0.1:" + httpPort), OptionalInt.empty(), true));
    }
}
