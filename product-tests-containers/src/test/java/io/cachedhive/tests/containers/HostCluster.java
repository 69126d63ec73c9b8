package io.cachedhive.tests.containers;

import com.google.common.collect.ImmutableList;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.home.Distribution;
import io.cachedhive.testing.cluster.home.TrinoHome;
import io.cachedhive.testing.cluster.home.TrinoHome.Plugin;
import io.cachedhive.testing.cluster.s3.S3RequestLog;
import io.cachedhive.testing.cluster.s3.S3RequestLogFile;
import io.cachedhive.testing.cluster.s3.S3Service;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testcontainers.containers.Network;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.LocalTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static com.google.common.io.MoreFiles.deleteRecursively;
import static com.google.common.io.RecursiveDeleteOption.ALLOW_INSECURE;
import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.temporal.ChronoUnit.SECONDS;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * The hosts of a company that has Trino and no cache: a coordinator, three workers, an object store, a Hive Metastore, and the host from which its administrator
 * works. On the Trino hosts are sshd, a JDK and Trino with its plugins, and nothing of cachedhive.
 *
 * <p>JDK and jars are shown to the hosts read-only from this machine, so that a host costs megabytes.
 */
final class HostCluster
        implements AutoCloseable
{
    static final String BUCKET = "lake";
    static final String JAVA_HOME = "/usr/lib/jvm/jdk-25";
    /**
     * Where the JDK is shown to every host, whether its {@link #JAVA_HOME} leads there or not.
     */
    static final String JAVA_MOUNT = "/mnt/jdk";
    static final String TRINO_HOME = "/opt/trino";
    static final String TRINO_USER = "trino";
    /**
     * Who may log in to Trino by HTTPS, and with which password.
     */
    static final String LOGIN_USER = "operator";
    static final String LOGIN_PASSWORD = "correct horse";
    static final String S3_ENDPOINT = "http://s3:" + Ports.S3;
    static final String METASTORE_URI = "thrift://metastore:" + Ports.METASTORE;

    private static final int COORDINATOR_HEAP_MEGABYTES = 900;
    private static final int WORKER_HEAP_MEGABYTES = 800;
    private static final int HOST_MEMORY_MEGABYTES = 4096;
    private static final int HOST_SHARED_MEGABYTES = 512;
    private static final String TRINO_SECRET = "of Trino's own servers, and of no cache worker";
    private static final String SSH_KEY = "/root/.ssh/id_ed25519";

    private final Path directory;
    private final int workerCount;
    private final Distribution distribution;
    private final Network network;
    private final HttpsCertificate certificate;
    private final Map<String, ContainerHost> hosts = new LinkedHashMap<>();
    private String runningTrinoHome = TRINO_HOME;

    private HostCluster(Path directory, int workerCount, Network network)
            throws IOException, InterruptedException
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.workerCount = workerCount;
        this.network = requireNonNull(network, "network is null");
        distribution = Distribution.find();
        certificate = HttpsCertificate.create(directory, Stream.concat(Stream.of("coordinator"), workerNames(workerCount)).toList());
    }

    private static Stream<String> workerNames(int count)
    {
        return IntStream.rangeClosed(1, count).mapToObj(number -> "worker-" + number);
    }

    /**
     * For the servers of all Trino hosts that offer HTTPS.
     */
    HttpsCertificate certificate()
    {
        return certificate;
    }

    /**
     * All hosts, with sshd on each and Trino installed where it belongs; Trino does not run yet. The administrator's host may log in to the others.
     *
     * @param name of the directory under {@code target/hosts}, emptied first
     * @param adjustments of single hosts, by their names
     */
    static HostCluster start(String name, int workerCount, Map<String, UnaryOperator<ContainerHost.Builder>> adjustments)
            throws Exception
    {
        Path directory = Path.of("target", "hosts", name).toAbsolutePath();
        if (Files.exists(directory)) {
            deleteRecursively(directory, ALLOW_INSECURE);
        }
        Files.createDirectories(directory);
        HostCluster cluster = new HostCluster(directory, workerCount, newNetwork());
        try {
            cluster.startHosts(adjustments);
        }
        catch (Exception | Error e) {
            cluster.close();
            throw e;
        }
        return cluster;
    }

    private static Network newNetwork()
    {
        return Network.builder()
                .createNetworkCmdModifier(command -> command.withLabels(Map.of(ContainerHost.RUN_LABEL, System.getProperty(ContainerHost.RUN_PROPERTY, "none"))))
                .build();
    }

    private void startHosts(Map<String, UnaryOperator<ContainerHost.Builder>> adjustments)
            throws Exception
    {
        Map<String, ContainerHost.Builder> builders = new LinkedHashMap<>();
        builders.put("admin", Administrator.withReleases(hostBuilder("admin")));
        Path s3Library = linkS3Library();
        builders.put("s3", hostBuilder("s3")
                .readOnly(s3Library, "/opt/s3/lib")
                .readOnly(distribution.root().resolve("testing-cluster/target/classes"), "/opt/s3/classes")
                .writable(Files.createDirectories(directory.resolve("s3")), "/data"));
        builders.put("metastore", hostBuilder("metastore")
                .readOnly(distribution.metastoreLibrary(), "/opt/metastore/lib")
                .readOnly(distribution.metastoreClasses(), "/opt/metastore/classes"));
        builders.put("coordinator", trinoHost("coordinator"));
        for (int worker = 1; worker <= workerCount; worker++) {
            builders.put("worker-" + worker, trinoHost("worker-" + worker));
        }
        Map<String, ContainerHost> started = new ConcurrentHashMap<>();
        try {
            Parallel.forEach(builders.keySet(), host -> {
                UnaryOperator<ContainerHost.Builder> adjustment = adjustments.getOrDefault(host, UnaryOperator.identity());
                started.put(host, adjustment.apply(builders.get(host)).start());
            });
        }
        finally {
            // also where one of them does not start: close() removes the others
            builders.keySet().stream().filter(started::containsKey).forEach(host -> hosts.put(host, started.get(host)));
        }
        say("%s hosts run", hosts.size());
        Parallel.forEach(hosts.values(), host -> {
            Ports.awaitOpen(host.address(), Ports.SSH, Patience.LIMIT);
            host.mustRun("mkdir -p /usr/lib/jvm && ln -s %s %s".formatted(JAVA_MOUNT, JAVA_HOME));
        });
        letAdministratorIn();
        Parallel.forEach(trinoHosts(), this::installTrino);
        say("the administrator can log in, and Trino is installed");
    }

    private ContainerHost.Builder hostBuilder(String name)
    {
        return ContainerHost.builder(network, name)
                .readOnly(Path.of(System.getProperty("java.home")), JAVA_MOUNT);
    }

    private ContainerHost.Builder trinoHost(String name)
    {
        return hostBuilder(name)
                .readOnly(distribution.trinoServerLibrary())
                .readOnly(distribution.cachedHivePlugin())
                .readOnly(distribution.tpchJars())
                .readOnly(createDirectory("homes/" + name), "/mnt/trino-home")
                .memory(HOST_MEMORY_MEGABYTES, HOST_SHARED_MEGABYTES)
                .ownFirewall();
    }

    private Path createDirectory(String name)
    {
        try {
            return Files.createDirectories(directory.resolve(name));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // all jars of the S3 server in one place
    private Path linkS3Library()
            throws IOException
    {
        Path library = Files.createDirectories(directory.resolve("s3-lib"));
        for (String jar : Files.readString(distribution.root().resolve("testing-cluster/target/classpath")).strip().split(":")) {
            Path link = library.resolve(Path.of(jar).getFileName());
            try {
                Files.createLink(link, Path.of(jar));
            }
            catch (FileAlreadyExistsException e) {
                throw new IllegalStateException("two jars of one name: " + jar, e);
            }
            catch (FileSystemException _) {
                // another file system than this directory
                Files.copy(Path.of(jar), link);
            }
        }
        return library;
    }

    private void letAdministratorIn()
    {
        ContainerHost admin = admin();
        admin.mustRun("mkdir -p -m 700 /root/.ssh && ssh-keygen -q -t ed25519 -N '' -f " + SSH_KEY);
        String publicKey = admin.mustRun("cat %s.pub".formatted(SSH_KEY)).strip();
        Map<ContainerHost, String> known = Parallel.map(hosts.values(), host -> {
            if (host != admin) {
                host.mustRun("mkdir -p -m 700 /root/.ssh && echo '%s' > /root/.ssh/authorized_keys".formatted(publicKey));
            }
            return "%s,%s %s%n".formatted(host.name(), host.address(), host.mustRun("cut -d ' ' -f 1,2 /etc/ssh/ssh_host_ed25519_key.pub").strip());
        });
        admin.write("/root/.ssh/known_hosts", String.join("", known.values()));
    }

    private void installTrino(ContainerHost host)
    {
        TrinoHome.Builder home = TrinoHome.builder(distribution, directory.resolve("homes").resolve(host.name()))
                .nodeId(host.name())
                .environment("production")
                .address(host.address())
                .httpPort(Ports.TRINO)
                .mainClass("io.trino.server.TrinoServer")
                .plugin(Plugin.HIVE)
                .plugin(Plugin.TPCH)
                .catalog("tpch", Map.of("connector.name", "tpch"))
                .catalog("hive", hiveProperties())
                // Trino's own traffic is cut, too: on a slow machine its default of a minute is close to what a cut and the kernel's pauses before it sends again take
                .config("query.remote-task.max-error-duration", "3m")
                .config("exchange.max-error-duration", "3m")
                .config("internal-communication.shared-secret", TRINO_SECRET);
        if (host.name().equals("coordinator")) {
            home.coordinator().heapMegabytes(COORDINATOR_HEAP_MEGABYTES)
                    .config("http-server.authentication.type", "PASSWORD")
                    // for what is not about logins
                    .config("http-server.authentication.allow-insecure-over-http", "true")
                    .config("http-server.https.enabled", "true")
                    .config("http-server.https.port", Integer.toString(Ports.TRINO_HTTPS))
                    .config("http-server.https.keystore.path", TRINO_HOME + "/etc/" + HttpsCertificate.KEYSTORE)
                    .config("http-server.https.keystore.key", HttpsCertificate.PASSWORD);
        }
        else {
            home.worker(coordinatorUri()).heapMegabytes(WORKER_HEAP_MEGABYTES);
        }
        Path assembled = home.assemble().path();
        writeJar(assembled.resolve("trino-server-main.jar"), "io/trino/server/TrinoServer.class", Optional.empty());
        if (host.name().equals("coordinator")) {
            addPasswords(assembled);
        }
        host.mustRun(ContainerHost.steps(List.of(
                "useradd --system --create-home --home-dir /var/lib/trino --shell /bin/bash " + TRINO_USER,
                "mkdir -p %1$s/lib %1$s/var/log".formatted(TRINO_HOME),
                "cp -a /mnt/trino-home/bin /mnt/trino-home/etc /mnt/trino-home/plugin %s/".formatted(TRINO_HOME),
                "ln -s %s/*.jar %s/lib/".formatted(distribution.trinoServerLibrary(), TRINO_HOME),
                // as Trino ships it
                "rm %s/lib/engine-extension-*.jar".formatted(TRINO_HOME),
                "cp /mnt/trino-home/trino-server-main.jar %s/lib/".formatted(TRINO_HOME),
                "chown -R %1$s:%1$s %2$s".formatted(TRINO_USER, TRINO_HOME))));
    }

    private void addPasswords(Path home)
    {
        try {
            Path plugin = Files.createDirectories(home.resolve("plugin/password-lines"));
            writeJar(plugin.resolve("password-lines.jar"), PasswordLinesPlugin.class.getName().replace('.', '/') + ".class", Optional.of(PasswordLinesPlugin.class.getName()));
            Path etc = home.resolve("etc");
            Files.writeString(etc.resolve("password-authenticator.properties"), text(Map.of(
                    "password-authenticator.name", PasswordLinesPlugin.NAME,
                    PasswordLinesPlugin.FILE, TRINO_HOME + "/etc/passwords")));
            Files.writeString(etc.resolve("passwords"), "%s:%s%n".formatted(LOGIN_USER, LOGIN_PASSWORD));
            Files.copy(certificate.keystore(), etc.resolve(HttpsCertificate.KEYSTORE));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * @param plugin class that Trino loads as a plugin
     */
    private static void writeJar(Path file, String name, Optional<String> plugin)
    {
        try (OutputStream output = Files.newOutputStream(file);
                JarOutputStream jar = new JarOutputStream(output)) {
            jar.putNextEntry(new JarEntry(name));
            jar.write(HostCluster.class.getClassLoader().getResourceAsStream(name).readAllBytes());
            jar.closeEntry();
            if (plugin.isPresent()) {
                jar.putNextEntry(new JarEntry("META-INF/services/io.trino.spi.Plugin"));
                jar.write(plugin.get().getBytes(UTF_8));
                jar.closeEntry();
            }
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The plain Hive catalog, over the same metastore and object store.
     */
    static Map<String, String> hiveProperties()
    {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("connector.name", "hive");
        properties.put("hive.metastore", "thrift");
        properties.put("hive.metastore.uri", METASTORE_URI);
        properties.put("hive.security", "allow-all");
        properties.put("fs.s3.enabled", "true");
        properties.putAll(s3Properties());
        return properties;
    }

    /**
     * What leads to the object store, in catalogs and origins.
     */
    static Map<String, String> s3Properties()
    {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("s3.endpoint", S3_ENDPOINT);
        properties.put("s3.region", S3Service.REGION);
        properties.put("s3.path-style-access", "true");
        properties.put("s3.aws-access-key", S3Service.ACCESS_KEY);
        properties.put("s3.aws-secret-key", S3Service.SECRET_KEY);
        return properties;
    }

    static String text(Map<String, String> properties)
    {
        return properties.entrySet().stream()
                .map(property -> "%s=%s%n".formatted(property.getKey(), property.getValue()))
                .collect(joining());
    }

    /**
     * Starts what Trino needs, the object store and the metastore, and waits until they listen.
     */
    void startStorage()
    {
        launchStorage();
        awaitStorage();
    }

    /**
     * As {@link #startStorage}, without the wait: other things can be done until {@link #awaitStorage}.
     */
    void launchStorage()
    {
        startInBackground(s3(), List.of(
                JAVA_HOME + "/bin/java",
                "-Xmx256m",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp '/opt/s3/classes:/opt/s3/lib/*'",
                "io.cachedhive.testing.cluster.s3.S3ServerMain",
                "--directory /data",
                "--all-addresses",
                "--port " + Ports.S3,
                "--bucket " + BUCKET,
                "--foreground"));
        startInBackground(metastore(), List.of(
                JAVA_HOME + "/bin/java",
                "-Xmx256m",
                "-cp '/opt/metastore/classes:/opt/metastore/lib/*'",
                "org.apache.hadoop.hive.metastore.HiveMetaStore",
                "-p " + Ports.METASTORE,
                "--hiveconf metastore.warehouse.dir=s3://%s/warehouse".formatted(BUCKET),
                "--hiveconf 'javax.jdo.option.ConnectionURL=jdbc:derby:;databaseName=/var/lib/metastore-derby;create=true'"));
    }

    void awaitStorage()
    {
        Ports.awaitOpen(s3().address(), Ports.S3, Patience.LIMIT);
        Ports.awaitOpen(metastore().address(), Ports.METASTORE, Patience.LIMIT);
        say("object store and metastore listen");
    }

    private static void startInBackground(ContainerHost host, List<String> command)
    {
        host.mustRun("cd /tmp && setsid %s > /var/log/%s.log 2>&1 < /dev/null &".formatted(String.join(" ", command), host));
    }

    /**
     * Starts Trino on its hosts, and waits until all workers are part of it.
     */
    void startTrino()
            throws Exception
    {
        Parallel.forEach(trinoHosts(), host -> host.mustRun("runuser -u %1$s -- %2$s/bin/launcher -jvm-dir %3$s start".formatted(TRINO_USER, runningTrinoHome, JAVA_HOME)));
        try {
            Await.until("the coordinator sees %s workers".formatted(workerCount), Patience.LIMIT, QUERY_PAUSE, () -> activeWorkers() == workerCount);
        }
        catch (AssertionError e) {
            for (ContainerHost host : trinoHosts()) {
                e.addSuppressed(new AssertionError(host + ": " + host.run("tail -n 40 %1$s/var/log/launcher.log %1$s/var/log/server.log".formatted(runningTrinoHome)).text()));
            }
            throw e;
        }
        say("Trino runs");
    }

    /**
     * Starts Trino anew on its hosts, so that it reads plugins and catalogs again.
     */
    void restartTrino()
            throws Exception
    {
        restartTrino(runningTrinoHome);
    }

    /**
     * As {@link #restartTrino()}, from another home.
     */
    void restartTrino(String home)
            throws Exception
    {
        String stop = """
                pid=$(head -n 1 %1$s/var/run/launcher.pid)
                kill "$pid"
                # nobody in a container waits for it
                while [ -e "/proc/$pid" ] && ! grep -qs '^State:.*Z' "/proc/$pid/status"; do sleep 0.2; done
                rm -f %1$s/var/run/launcher.pid
                """.formatted(runningTrinoHome);
        Parallel.forEach(trinoHosts(), host -> host.mustRun(stop));
        runningTrinoHome = home;
        startTrino();
    }

    private int activeWorkers()
    {
        if (!Ports.isOpen(coordinator().address(), Ports.TRINO)) {
            return 0;
        }
        try (SqlConnection connection = connect("system", "runtime")) {
            return connection.query("SELECT node_id FROM system.runtime.nodes WHERE state = 'active' AND NOT coordinator").rows().size();
        }
        catch (SQLException _) {
            // it is still starting
            return 0;
        }
    }

    SqlConnection connect(String catalog, String schema)
            throws SQLException
    {
        return SqlConnection.open(coordinatorUri(), "test", Optional.of(catalog), Optional.of(schema));
    }

    SqlConnection connectAs(String user, String catalog)
            throws SQLException
    {
        return SqlConnection.open(coordinatorUri(), user, Optional.of(catalog), Optional.empty());
    }

    private URI coordinatorUri()
    {
        return URI.create("http://%s:%s".formatted(coordinator().address(), Ports.TRINO));
    }

    /**
     * What the object store was asked for.
     */
    S3RequestLog s3Log()
    {
        return S3RequestLogFile.open(directory.resolve("s3/requests.log"));
    }

    ContainerHost admin()
    {
        return host("admin");
    }

    ContainerHost coordinator()
    {
        return host("coordinator");
    }

    ContainerHost s3()
    {
        return host("s3");
    }

    ContainerHost metastore()
    {
        return host("metastore");
    }

    /**
     * 1-based.
     */
    ContainerHost worker(int number)
    {
        return host("worker-" + number);
    }

    ContainerHost host(String name)
    {
        ContainerHost host = hosts.get(name);
        if (host == null) {
            throw new IllegalStateException("there is no host " + name);
        }
        return host;
    }

    List<ContainerHost> workers()
    {
        return Stream.iterate(1, number -> number <= workerCount, number -> number + 1).map(this::worker).toList();
    }

    List<ContainerHost> trinoHosts()
    {
        return ImmutableList.<ContainerHost>builder().add(coordinator()).addAll(workers()).build();
    }

    void say(String format, Object... arguments)
    {
        System.out.printf("%s [%s] %s%n", LocalTime.now().truncatedTo(SECONDS), directory.getFileName(), format.formatted(arguments));
    }

    @Override
    public void close()
    {
        try {
            Parallel.forEach(hosts.values(), ContainerHost::close);
        }
        finally {
            network.close();
        }
        say("all hosts are removed");
    }
}
