package io.cachedhive.tests.containers;

import io.cachedhive.testing.cluster.home.Distribution;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * Who looks after a cluster, at the administrator's host: has a release and {@code cache-admin} out of it, and a hosts file.
 */
final class Administrator
{
    static final String INSTALL_DIRECTORY = "/opt/cachedhive";
    /**
     * Created by the installation.
     */
    static final String CACHE_WORKER_USER = "cachedhive";
    static final String SSD_DIRECTORY = "/var/lib/cachedhive";

    private static final String RELEASE_DIRECTORY = "/mnt/release";
    private static final String NEXT_RELEASE_DIRECTORY = "/mnt/next-release";
    private static final String HOSTS_FILE = "/root/.cache-admin.yaml";
    private static final String SECRET_FILE = "/root/.cache-admin.secret";
    static final String PASSWORD_FILE = "/root/trino-password";
    private static final String TOOL_DIRECTORY = "/opt/cache-admin";

    private final ContainerHost host;
    private final String release;

    private Administrator(ContainerHost host, String release)
    {
        this.host = requireNonNull(host, "host is null");
        this.release = requireNonNull(release, "release is null");
    }

    /**
     * The administrator's host has to see the releases of this machine.
     */
    static ContainerHost.Builder withReleases(ContainerHost.Builder host)
    {
        return host.readOnly(releases(), RELEASE_DIRECTORY)
                .readOnly(nextRelease(), NEXT_RELEASE_DIRECTORY);
    }

    private static Path nextRelease()
    {
        try {
            return Files.createDirectories(Path.of("target", "next-release").toAbsolutePath());
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path releases()
    {
        return Distribution.find().root().resolve("packages/target");
    }

    /**
     * Brings the release to a directory of the administrator's host, as it is downloaded.
     *
     * @return its version, as its name has it
     */
    static String copyRelease(ContainerHost host, String directory)
            throws IOException
    {
        String name = builtRelease();
        host.mustRun("cp %s/%s %s/".formatted(RELEASE_DIRECTORY, name, directory));
        return name.replaceAll("^cachedhive-|\\.tar\\.gz$", "");
    }

    /**
     * Unpacks the tool, and writes the hosts file and the configuration that is to be on the hosts.
     */
    static Administrator of(HostCluster cluster)
            throws IOException
    {
        ContainerHost host = cluster.admin();
        Administrator administrator = new Administrator(host, "%s/%s".formatted(RELEASE_DIRECTORY, builtRelease()));
        host.mustRun("mkdir %1$s && tar -xzf %2$s -C %1$s --strip-components=2 --wildcards '*/admin'".formatted(TOOL_DIRECTORY, administrator.release));
        administrator.writeHostsFile(hostsFile(cluster));
        Map<String, String> catalog = new LinkedHashMap<>(HostCluster.hiveProperties());
        catalog.put("connector.name", "cachedhive");
        host.write("/root/.cache-admin.d/catalog/cachedhive.properties", HostCluster.text(catalog));
        host.write("/root/.cache-admin.d/origins/default.properties", HostCluster.text(HostCluster.s3Properties()));
        return administrator;
    }

    private static String builtRelease()
            throws IOException
    {
        try (Stream<Path> files = Files.list(releases())) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.matches("cachedhive-[0-9].*\\.tar\\.gz"))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("no cachedhive-VERSION.tar.gz in %s: build module packages".formatted(releases())));
        }
    }

    private static String hostsFile(HostCluster cluster)
    {
        return """
                cluster: production
                coordinators:
                  - coordinator
                workers:
                  - worker-[1-%s]
                ssh-user: root
                ssh:
                  connect-timeout: 20s
                secret-file: ~/.cache-admin.secret
                configuration-directory: ~/.cache-admin.d
                trino-url: http://coordinator:%s
                install-directory: %s
                trino-home: %s
                ram-size: 128MB
                heap-size: 512MB
                ssd:
                  - directory: %s
                    size: 512MB
                """.formatted(cluster.workers().size(), Ports.TRINO, INSTALL_DIRECTORY, HostCluster.TRINO_HOME, SSD_DIRECTORY);
    }

    /**
     * From now on the cache workers of the hosts file have HTTPS only, and commands that run SQL log in to Trino with a password. To be called between
     * {@link #install} and {@link #start}: the certificate belongs to the user that the installation makes.
     */
    void switchToHttps(HostCluster cluster)
    {
        String keystore = INSTALL_DIRECTORY + "/etc/" + HttpsCertificate.KEYSTORE;
        String key = cluster.certificate().base64();
        Parallel.forEach(cluster.workers(), worker -> worker.mustRun("install -m 600 -o %1$s -g %1$s /dev/null %2$s && base64 -d <<< %3$s > %2$s".formatted(
                CACHE_WORKER_USER, keystore, key)));
        host.write("/root/https.pem", cluster.certificate().pem());
        host.write(PASSWORD_FILE, HostCluster.LOGIN_PASSWORD + "\n");
        String plain = hostsFile();
        String trinoUrl = "trino-url: http://coordinator:%s\n".formatted(Ports.TRINO);
        if (!plain.contains(trinoUrl)) {
            throw new IllegalStateException("no trino-url in " + plain);
        }
        writeHostsFile(plain.replace(trinoUrl, """
                trino-url: https://coordinator:%s
                trino-user: %s
                trino-password-file: %s
                tls:
                  truststore-path: ~/https.pem
                http-scheme: https
                worker-properties:
                  http-server.https.keystore.path: %s
                  http-server.https.keystore.key: %s
                """.formatted(Ports.TRINO_HTTPS, HostCluster.LOGIN_USER, PASSWORD_FILE, keystore, HttpsCertificate.PASSWORD)));
        check(cacheAdmin("config", "push"));
    }

    /**
     * Runs {@code cache-admin} with another hosts file.
     */
    CommandResult cacheAdminWith(String hostsFile, String... arguments)
    {
        host.write("/root/other.yaml", hostsFile);
        return cacheAdmin(withOptions(List.of(arguments), "--config", "/root/other.yaml"));
    }

    String hostsFile()
    {
        return host.mustRun("cat " + HOSTS_FILE);
    }

    void writeHostsFile(String text)
    {
        host.write(HOSTS_FILE, text);
    }

    /**
     * Runs {@code cache-admin}.
     */
    CommandResult cacheAdmin(String... arguments)
    {
        return host.run("%s/bin/cache-admin %s".formatted(TOOL_DIRECTORY, String.join(" ", List.of(arguments))));
    }

    /**
     * Runs {@code cache-admin install} with everything.
     *
     * @param options such as {@code --hosts}
     */
    CommandResult install(String... options)
    {
        return cacheAdmin(withOptions(List.of("install", "--package", release, "--engine-extension"), options));
    }

    /**
     * The secret that the first installation made.
     */
    String secret()
    {
        return host.mustRun("cat " + SECRET_FILE).strip();
    }

    /**
     * Starts cache workers, and waits until each has answered a request: the first answers after a start take long on a loaded machine.
     *
     * @param options such as {@code --hosts}
     */
    CommandResult start(String... options)
    {
        CommandResult started = cacheAdmin(withOptions(List.of("start"), options));
        return started.exitCode() == 0 ? status(options) : started;
    }

    /**
     * Runs {@code cache-admin status} with a time-out that no machine is too slow for.
     */
    CommandResult status(String... options)
    {
        return cacheAdmin(withOptions(List.of("status", Patience.TIMEOUT_OPTION), options));
    }

    private static String[] withOptions(List<String> command, String... options)
    {
        return Stream.concat(command.stream(), Stream.of(options)).toArray(String[]::new);
    }

    /**
     * Makes the release after the one that is installed.
     */
    static void makeNextRelease()
            throws IOException
    {
        NextRelease.make(releases().resolve(builtRelease()), nextRelease());
    }

    CommandResult upgradeToNext()
    {
        return cacheAdmin("upgrade", "--package", "%s/cachedhive-%s.tar.gz".formatted(NEXT_RELEASE_DIRECTORY, NextRelease.VERSION));
    }

    /**
     * @throws AssertionError if a command of the administrator's did not end well
     */
    static void check(CommandResult result)
    {
        if (result.exitCode() != 0) {
            throw new AssertionError("cache-admin: " + result.text());
        }
    }
}
