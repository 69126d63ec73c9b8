package io.cachedhive.admin.settings;

import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.settings.CertificateFile.Role;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.ZoneOffset.UTC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestCertificateFile
{
    private static final String PASSWORD = "changeit";
    private static final Clock NOW = Clock.systemUTC();

    @TempDir
    private Path directory;

    @Test
    void testCertificateOfAnAuthority()
            throws Exception
    {
        make("authority", "-ext", "bc:critical=ca:true");
        make("other", "-ext", "bc:critical=ca:true");
        make("worker", "-signer", "authority", "-ext", "san=uri:cachedhive://production/worker/*");

        CertificateFile file = CertificateFile.read(certificate("worker"), key("worker"), Optional.empty(), Role.WORKER, NOW);

        assertThat(file.content()).isEqualTo(Files.readString(certificate("worker")) + Files.readString(key("worker")));
        assertThat(file.validUntil()).isBetween(NOW.instant().plus(Duration.ofDays(1)), NOW.instant().plus(Duration.ofDays(3)));
        file.checkTrusted(certificate("authority"), NOW);
        assertThat(CertificateFile.readTruststore(certificate("authority"), NOW)).isEqualTo(Files.readString(certificate("authority")));
        assertThatThrownBy(() -> file.checkTrusted(certificate("other"), NOW))
                .isInstanceOf(ClusterFileException.class)
                .hasMessageStartingWith("No authority in %s signed the certificate in %s (".formatted(certificate("other"), certificate("worker")));

        // in one file, as Trino has it
        Path both = Files.writeString(directory.resolve("w1.pem"), Files.readString(key("worker")) + Files.readString(certificate("worker")));
        CertificateFile one = CertificateFile.read(both, both, Optional.empty(), Role.WORKER, NOW);
        assertThat(one.content()).isEqualTo(Files.readString(both));
        one.checkTrusted(certificate("authority"), NOW);
    }

    @Test
    void testRefusedFiles()
            throws Exception
    {
        make("worker", "-ext", "san=uri:cachedhive://production/worker/w1");
        make("client", "-ext", "san=uri:cachedhive://production/client");
        make("two", "-ext", "san=uri:cachedhive://production/client,uri:cachedhive://production/worker/*");
        make("unnamed", "-ext", "san=dns:worker1.example.net");
        Path text = Files.writeString(directory.resolve("text"), "no certificate\n");

        // of another key
        assertRefused(certificate("worker"), key("client"), Role.WORKER, "does not belong to the first certificate in " + certificate("worker"));
        // of another role
        assertRefused(certificate("client"), key("client"), Role.WORKER, "cachedhive://production/client, which is not that of a cache worker");
        assertRefused(certificate("worker"), key("worker"), Role.CLIENT, "cachedhive://production/worker/w1, which is not that of a Trino server");
        assertRefused(certificate("two"), key("two"), Role.WORKER, "and may have one");
        // no PEM, nothing, and the two exchanged
        assertRefused(text, key("worker"), Role.WORKER, text + " has no certificate");
        assertRefused(directory.resolve("missing"), key("worker"), Role.WORKER, "cannot be read (NoSuchFileException)");
        assertRefused(certificate("worker"), text, Role.WORKER, "The key " + text + " cannot be used");
        assertRefused(key("worker"), certificate("worker"), Role.WORKER, key("worker") + " has no certificate");
        Path damaged = Files.writeString(directory.resolve("damaged"), Files.readString(certificate("worker")).replaceFirst("MII", "AAA"));
        assertRefused(damaged, key("worker"), Role.WORKER, damaged + " is not a PEM file with certificates");
        // expired, and not yet valid
        for (Path file : List.of(certificate("worker"))) {
            assertThatThrownBy(() -> CertificateFile.read(file, key("worker"), Optional.empty(), Role.WORKER, Clock.fixed(NOW.instant().plus(Duration.ofDays(3)), UTC)))
                    .isInstanceOf(ClusterFileException.class).hasMessageContaining("expired at").hasMessageEndingWith("renew it.");
            assertThatThrownBy(() -> CertificateFile.readTruststore(file, Clock.fixed(NOW.instant().minus(Duration.ofDays(3)), UTC)))
                    .isInstanceOf(ClusterFileException.class).hasMessageContaining("is not valid before");
        }

        // without a name
        CertificateFile.read(certificate("unnamed"), key("unnamed"), Optional.empty(), Role.WORKER, NOW);
        CertificateFile.read(certificate("client"), key("client"), Optional.empty(), Role.CLIENT, NOW);
    }

    @Test
    void testPlaces()
            throws Exception
    {
        ClusterHost bare = host("");
        assertThatThrownBy(() -> CertificatePlaces.of(bare, Role.WORKER, Map.of(), false))
                .isInstanceOf(ClusterFileException.class)
                .hasMessageContaining("w1: internal-communication.https.keystore.path of worker-properties is not set: set it to the path of a file on the host, such as "
                        + "/opt/cachedhive/etc/tls/worker.pem.");
        ClusterHost relative = host("worker-properties: {internal-communication.https.keystore.path: worker.pem}\n");
        assertThatThrownBy(() -> CertificatePlaces.of(relative, Role.WORKER, Map.of(), false)).hasMessageContaining("is not an absolute path of a file (worker.pem)");

        ClusterHost worker = host("""
                worker-properties:
                  internal-communication.https.keystore.path: /etc/tls/w.pem
                  internal-communication.https.truststore.path: /etc/tls/ca.pem
                """);
        CertificatePlaces places = CertificatePlaces.of(worker, Role.WORKER, Map.of(), true);
        assertThat(places.files(Role.WORKER, "certificate", Optional.of("authorities"))).containsExactly(
                new HostFile("/etc/tls/ca.pem", HostFile.Reader.CACHE_WORKER, "authorities"),
                new HostFile("/etc/tls/w.pem", HostFile.Reader.CACHE_WORKER, "certificate", true));

        // two catalogs may have one file
        String catalog = "connector.name=cachedhive\ncachedhive.worker.tls.keystore-path=/etc/trino/client.pem\n";
        assertThat(CertificatePlaces.of(worker, Role.CLIENT, Map.of("a", catalog, "b", catalog, "c", "connector.name=memory\n"), false).files(Role.CLIENT, "x", Optional.empty()))
                .containsExactly(new HostFile("/etc/trino/client.pem", HostFile.Reader.TRINO, "x", true));
        assertThatThrownBy(() -> CertificatePlaces.of(worker, Role.CLIENT, Map.of("a", catalog), true))
                .hasMessageContaining("cachedhive.worker.tls.truststore-path of the catalog a is not set");
        assertThatThrownBy(() -> CertificatePlaces.of(worker, Role.CLIENT, Map.of(), false)).hasMessageContaining("there is no cachedhive catalog");
    }

    private void assertRefused(Path certificate, Path key, Role role, String problem)
    {
        assertThatThrownBy(() -> CertificateFile.read(certificate, key, Optional.empty(), role, NOW))
                .isInstanceOf(ClusterFileException.class)
                .hasMessageContaining(problem)
                // one sentence
                .hasMessageMatching("[^\n]*\\.");
    }

    private ClusterHost host(String settings)
            throws IOException, ClusterFileException
    {
        Path file = Files.writeString(directory.resolve("hosts.yaml"), "workers: [w1]\ntrino-home: /usr/lib/trino\n" + settings);
        return ClusterFile.read(file).hosts().getFirst();
    }

    private Path certificate(String name)
    {
        return directory.resolve(name + "-certificate.pem");
    }

    private Path key(String name)
    {
        return directory.resolve(name + "-key.pem");
    }

    /// Valid for two days.
    private void make(String name, String... options)
            throws Exception
    {
        Path store = directory.resolve("keys.p12");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair", "-alias", name, "-keyalg", "EC", "-groupname", "secp256r1",
                "-dname", "CN=" + name, "-validity", "2", "-storetype", "PKCS12", "-keystore", store.toString(), "-storepass", PASSWORD));
        command.addAll(List.of(options));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
        Key key = keys.getKey(name, PASSWORD.toCharArray());
        StringBuilder chain = new StringBuilder();
        for (Certificate certificate : keys.getCertificateChain(name)) {
            chain.append(pem("CERTIFICATE", certificate.getEncoded()));
        }
        Files.writeString(certificate(name), chain);
        Files.writeString(key(name), pem("PRIVATE KEY", key.getEncoded()));
    }

    private static String pem(String type, byte[] bytes)
    {
        return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n".formatted(type, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes));
    }
}
