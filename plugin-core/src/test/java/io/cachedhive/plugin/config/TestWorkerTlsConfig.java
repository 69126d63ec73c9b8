package io.cachedhive.plugin.config;

import com.google.common.collect.ImmutableMap;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.Map;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;

class TestWorkerTlsConfig
{
    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(WorkerTlsConfig.class)
                .setKeystorePath(null)
                .setKeystorePassword(null)
                .setTruststorePath(null)
                .setTruststorePassword(null));
    }

    @Test
    void testExplicitPropertyMappings()
    {
        Map<String, String> properties = ImmutableMap.of(
                "cachedhive.worker.tls.keystore-path", "/etc/worker.pem",
                "cachedhive.worker.tls.keystore-password", "key of the keystore",
                "cachedhive.worker.tls.truststore-path", "/etc/ca.pem",
                "cachedhive.worker.tls.truststore-password", "key of the truststore");

        assertFullMapping(properties, new WorkerTlsConfig()
                .setKeystorePath(Path.of("/etc/worker.pem"))
                .setKeystorePassword("key of the keystore")
                .setTruststorePath(Path.of("/etc/ca.pem"))
                .setTruststorePassword("key of the truststore"));
    }
}
