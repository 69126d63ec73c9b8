package io.cachedhive.worker;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.airlift.units.DataSize;
import io.airlift.units.Duration;
import io.cachedhive.worker.server.TlsMode;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.Map;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;
import static io.airlift.units.DataSize.Unit.KILOBYTE;
import static io.airlift.units.DataSize.Unit.MEGABYTE;
import static java.util.concurrent.TimeUnit.DAYS;
import static org.assertj.core.api.Assertions.assertThat;

class TestCacheWorkerConfig
{
    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(CacheWorkerConfig.class)
                .setPort(8484)
                .setSocketPath(Path.of("/run/cachedhive/worker.sock"))
                .setSocketGroup(null)
                .setSocketUsers(ImmutableList.of())
                .setBlockSize(DataSize.of(1, MEGABYTE))
                .setTtl(new Duration(7, DAYS))
                .setPinnedMaxShare(0.8)
                .setStateDirectory(Path.of("state"))
                .setZone(null)
                .setSharedSecret(null)
                .setSharedSecretFile(null)
                .setTls(TlsMode.REQUIRED));
    }

    @Test
    void testExplicitPropertyMappings()
    {
        Map<String, String> properties = ImmutableMap.<String, String>builder()
                .put("cache.worker.port", "18484")
                .put("cache.worker.socket-path", "/tmp/worker.sock")
                .put("cache.worker.socket-group", "trino")
                .put("cache.worker.socket-users", "trino,1000")
                .put("cache.block-size", "256kB")
                .put("cache.ttl", "1d")
                .put("cache.pinned-max-share", "0.5")
                .put("cache.state-directory", "/var/lib/cachedhive")
                .put("cache.worker.zone", "a")
                .put("internal-communication.shared-secret", "secret")
                .put("internal-communication.shared-secret-file", "/etc/secret")
                .put("cache.worker.tls", "ALLOWED")
                .buildOrThrow();

        assertFullMapping(properties, new CacheWorkerConfig()
                .setPort(18484)
                .setSocketPath(Path.of("/tmp/worker.sock"))
                .setSocketGroup("trino")
                .setSocketUsers(ImmutableList.of("trino", "1000"))
                .setBlockSize(DataSize.of(256, KILOBYTE))
                .setTtl(new Duration(1, DAYS))
                .setPinnedMaxShare(0.5)
                .setStateDirectory(Path.of("/var/lib/cachedhive"))
                .setZone("a")
                .setSharedSecret("secret")
                .setSharedSecretFile(Path.of("/etc/secret"))
                .setTls(TlsMode.ALLOWED));
    }

    @Test
    void testBlockSizeIsPowerOfTwo()
    {
        assertThat(new CacheWorkerConfig().setBlockSize(DataSize.of(1, MEGABYTE)).isBlockSizePowerOfTwo()).isTrue();
        assertThat(new CacheWorkerConfig().setBlockSize(DataSize.of(3, MEGABYTE)).isBlockSizePowerOfTwo()).isFalse();
    }
}
