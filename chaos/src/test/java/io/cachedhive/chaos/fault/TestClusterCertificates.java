package io.cachedhive.chaos.fault;

import io.cachedhive.transport.tls.CertificateName.Role;
import io.cachedhive.transport.tls.Certificates;
import io.cachedhive.transport.tls.KeyFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestClusterCertificates
{
    @TempDir
    private Path directory;

    @Test
    void testProcessesAcceptTheFiles()
            throws Exception
    {
        ClusterCertificates files = ClusterCertificates.create(directory.resolve("certificates"));
        Map<String, String> worker = files.cacheWorkerProperties("cache-worker-1");
        Map<String, String> catalog = files.catalogProperties("worker-1");
        assertThat(worker).containsOnlyKeys("internal-communication.https.keystore.path");
        assertThat(catalog).containsOnlyKeys("cachedhive.worker.tls.keystore-path", "cachedhive.worker.tls.truststore-path");

        Certificates ofWorker = open(Role.WORKER, worker.get("internal-communication.https.keystore.path"), Optional.empty());
        assertThat(ofWorker.problem()).isEmpty();
        Certificates ofTrino = open(Role.CLIENT, catalog.get("cachedhive.worker.tls.keystore-path"), Optional.of(catalog.get("cachedhive.worker.tls.truststore-path")));
        assertThat(ofTrino.problem()).isEmpty();
        assertThat(ofTrino.current().requiresPeerCertificates()).isTrue();

        // one that is left to expire
        files.issueToCacheWorker("cache-worker-1", Instant.now().minusSeconds(1));
        Certificates expired = open(Role.WORKER, worker.get("internal-communication.https.keystore.path"), Optional.empty());
        assertThat(expired.remaining()).isEqualTo(Duration.ZERO);
        assertThat(expired.problem().orElseThrow()).contains("expired");
    }

    private static Certificates open(Role role, String keystore, Optional<String> truststore)
            throws Exception
    {
        return Certificates.open(
                role,
                new KeyFile("keystore", Path.of(keystore), Optional.empty()),
                truststore.map(path -> new KeyFile("truststore", Path.of(path), Optional.empty())));
    }
}
