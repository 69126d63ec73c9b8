package io.cachedhive.admin.ssh;

import io.cachedhive.testing.Await;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

import static java.lang.ProcessBuilder.Redirect.appendTo;
import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Hosts with Debian's sshd: addresses of the loopback network, for the user of the test, with keys and known hosts of their own.
 */
public final class TestingSshHosts
        implements AutoCloseable
{
    private static final Set<Integer> GIVEN_PORTS = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private final Map<String, Integer> ports = new HashMap<>();
    private final Map<String, Process> daemons = new HashMap<>();

    private TestingSshHosts(Path directory)
    {
        this.directory = directory;
    }

    /// @return empty where no OpenSSH server is installed
    public static Optional<Path> findSshd()
    {
        return Stream.of("/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd").map(Path::of).filter(Files::isExecutable).findFirst();
    }

    /// @param addresses such as 127.0.0.2
    public static TestingSshHosts start(Path directory, String... addresses)
            throws IOException, InterruptedException
    {
        TestingSshHosts hosts = new TestingSshHosts(Files.createDirectories(directory));
        if (System.getProperty("user.name").equals("root")) {
            // where sshd locks itself in before a login; Debian makes it when the service starts
            Files.createDirectories(Path.of("/run/sshd"));
        }
        hosts.execute("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory.resolve("host").toString());
        hosts.execute("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory.resolve("user").toString());
        Files.copy(directory.resolve("user.pub"), directory.resolve("authorized"));
        Files.writeString(hosts.configFile(), """
                Host *
                  IdentityFile %1$s/user
                  IdentitiesOnly yes
                  UserKnownHostsFile %1$s/known
                  GlobalKnownHostsFile /dev/null
                  StrictHostKeyChecking yes
                """.formatted(directory));
        StringBuilder known = new StringBuilder();
        String key = Files.readString(directory.resolve("host.pub"));
        for (String address : addresses) {
            int port = freePort(address);
            hosts.ports.put(address, port);
            known.append("[%s]:%s %s".formatted(address, port, key));
        }
        Files.writeString(directory.resolve("known"), known);
        try {
            for (String address : addresses) {
                hosts.startHost(address, Map.of());
            }
        }
        catch (IOException | InterruptedException | RuntimeException | Error e) {
            hosts.close();
            throw e;
        }
        return hosts;
    }

    public Path configFile()
    {
        return directory.resolve("ssh_config");
    }

    public int port(String address)
    {
        return ports.get(address);
    }

    /// @param environment of all logins
    public void startHost(String address, Map<String, String> environment)
            throws IOException, InterruptedException
    {
        StringBuilder variables = new StringBuilder();
        environment.forEach((name, value) -> variables.append(" %s=%s".formatted(name, value)));
        Path config = directory.resolve("sshd_" + address);
        Files.writeString(config, """
                ListenAddress %1$s
                Port %2$s
                HostKey %3$s/host
                AuthorizedKeysFile %3$s/authorized
                PidFile none
                StrictModes no
                UsePAM no
                PasswordAuthentication no
                KbdInteractiveAuthentication no
                PrintMotd no
                MaxStartups 100
                %4$s
                """.formatted(address, ports.get(address), directory, variables.isEmpty() ? "" : "SetEnv" + variables));
        Process daemon = new ProcessBuilder(findSshd().orElseThrow().toString(), "-D", "-e", "-f", config.toString())
                .redirectErrorStream(true)
                .redirectOutput(appendTo(log(address).toFile()))
                .start();
        daemons.put(address, daemon);
        Await.until("sshd of %s listens, of which %s has more".formatted(address, log(address)), () -> {
            if (!daemon.isAlive()) {
                throw new IOException("sshd of %s ended: %s".formatted(address, Files.readString(log(address))));
            }
            return listens(address, ports.get(address));
        });
    }

    /// Nobody answers there any more.
    public void stopHost(String address)
            throws InterruptedException
    {
        Process daemon = daemons.remove(address);
        daemon.destroy();
        daemon.waitFor();
    }

    private Path log(String address)
    {
        return directory.resolve("log_" + address);
    }

    private static boolean listens(String address, int port)
    {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address, port), 1000);
            return true;
        }
        catch (IOException _) {
            return false;
        }
    }

    /**
     * Below the range from which Linux takes the ports of outgoing connections: until somebody is started who listens there, nobody else is given it. Another one
     * each time.
     */
    public static int freePort(String address)
    {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 32_000);
            try (ServerSocket socket = new ServerSocket()) {
                socket.bind(new InetSocketAddress(address, port));
                if (GIVEN_PORTS.add(port)) {
                    return port;
                }
            }
            catch (IOException _) {
                // somebody listens there
            }
        }
    }

    private void execute(String... command)
            throws IOException, InterruptedException
    {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException("%s failed: %s".formatted(List.of(command), said));
        }
    }

    @Override
    public void close()
    {
        List<Process> running = new ArrayList<>(daemons.values());
        daemons.clear();
        running.forEach(Process::destroy);
    }
}
