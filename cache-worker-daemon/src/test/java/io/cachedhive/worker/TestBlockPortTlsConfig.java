package io.cachedhive.worker;

import com.google.common.collect.ImmutableMap;
import io.airlift.node.NodeConfig;
import io.cachedhive.transport.tls.TestingAuthority;
import io.cachedhive.worker.fetch.FetchConfig;
import io.cachedhive.worker.origin.OriginsConfig;
import io.cachedhive.worker.server.TlsMode;
import io.cachedhive.worker.service.WorkerSettings;
import io.cachedhive.worker.startup.StartupException;
import io.cachedhive.worker.storage.EncryptionConfig;
import io.cachedhive.worker.storage.RamConfig;
import io.cachedhive.worker.storage.SsdConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Map;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestBlockPortTlsConfig
{
    private static final String SECRET = "fS9mD2kqLwz0Yb4nT7rXcVuE1hJgP6oA";

    @TempDir
    private Path directory;

    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(BlockPortTlsConfig.class)
                .setKeystorePath(null)
                .setKeystoreKey(null)
                .setTruststorePath(null)
                .setTruststoreKey(null));
    }

    @Test
    void testExplicitPropertyMappings()
    {
        Map<String, String> properties = ImmutableMap.of(
                "internal-communication.https.keystore.path", "/etc/worker.pem",
                "internal-communication.https.keystore.key", "key of the keystore",
                "internal-communication.https.truststore.path", "/etc/ca.pem",
                "internal-communication.https.truststore.key", "key of the truststore");

        assertFullMapping(properties, new BlockPortTlsConfig()
                .setKeystorePath(Path.of("/etc/worker.pem"))
                .setKeystoreKey("key of the keystore")
                .setTruststorePath(Path.of("/etc/ca.pem"))
                .setTruststoreKey("key of the truststore"));
    }

    @Test
    void testContradictions()
    {
        TestingAuthority authority = new TestingAuthority("authority");
        Path keystore = directory.resolve("worker.pem");
        Path truststore = directory.resolve("ca.pem");
        authority.issue(keystore, "cachedhive://lake/worker/*");
        TestingAuthority.trust(truststore, authority);
        BlockPortTlsConfig both = new BlockPortTlsConfig().setKeystorePath(keystore).setTruststorePath(truststore);

        assertThat(settings(new CacheWorkerConfig().setSharedSecret(SECRET), both).certificates()).isPresent();
        assertThat(settings(new CacheWorkerConfig().setSharedSecret(SECRET), new BlockPortTlsConfig()).certificates()).isEmpty();
        assertThatThrownBy(() -> settings(new CacheWorkerConfig(), both))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("internal-communication.https.keystore.path is set without a shared secret");
        assertThatThrownBy(() -> settings(new CacheWorkerConfig().setSharedSecret(SECRET), new BlockPortTlsConfig().setTruststorePath(truststore)))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("internal-communication.https.truststore.path is set without a keystore");
        assertThatThrownBy(() -> settings(new CacheWorkerConfig().setSharedSecret(SECRET).setTls(TlsMode.ALLOWED), both))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("cache.worker.tls=ALLOWED accepts peers without certificates");
    }

    private static WorkerSettings settings(CacheWorkerConfig config, BlockPortTlsConfig tls)
    {
        return CacheWorkerModule.settings(config, tls, new RamConfig(), new SsdConfig(), new EncryptionConfig(), new OriginsConfig(), new FetchConfig(), new NodeConfig());
    }
}
