package io.cachedhive.worker.storage;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import io.airlift.units.Duration;
import io.cachedhive.store.encryption.KeySource;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.Optional;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

class TestEncryptionConfig
{
    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(EncryptionConfig.class)
                .setKeyFile(null)
                .setKeyEnvironment(null)
                .setKeyCommand(null)
                .setKeyCommandTimeout(new Duration(30, SECONDS)));
        assertThat(new EncryptionConfig().toKeySource()).isEmpty();
    }

    @Test
    void testExplicitPropertyMappings()
    {
        assertFullMapping(
                ImmutableMap.of("cache.encryption.key-file", "/etc/key", "cache.encryption.key-command-timeout", "5s"),
                new EncryptionConfig().setKeyFile(Path.of("/etc/key")).setKeyCommandTimeout(new Duration(5, SECONDS)),
                ImmutableSet.of("cache.encryption.key-environment", "cache.encryption.key-command"));
        assertFullMapping(
                ImmutableMap.of("cache.encryption.key-environment", "KEY", "cache.encryption.key-command-timeout", "5s"),
                new EncryptionConfig().setKeyEnvironment("KEY").setKeyCommandTimeout(new Duration(5, SECONDS)),
                ImmutableSet.of("cache.encryption.key-file", "cache.encryption.key-command"));
        assertFullMapping(
                ImmutableMap.of("cache.encryption.key-command", "print-key", "cache.encryption.key-command-timeout", "5s"),
                new EncryptionConfig().setKeyCommand("print-key").setKeyCommandTimeout(new Duration(5, SECONDS)),
                ImmutableSet.of("cache.encryption.key-file", "cache.encryption.key-environment"));
    }

    @Test
    void testKeyComesFromOnePlace()
    {
        EncryptionConfig config = new EncryptionConfig().setKeyFile(Path.of("/etc/key"));
        assertThat(config.isSourceUnique()).isTrue();
        assertThat(config.toKeySource()).isEqualTo(Optional.of(new KeySource.OfFile(Path.of("/etc/key"))));
        config.setKeyEnvironment("KEY");
        assertThat(config.isSourceUnique()).isFalse();

        EncryptionConfig command = new EncryptionConfig().setKeyCommand("print-key");
        assertThat(command.isSourceUnique()).isTrue();
        assertThat(command.toKeySource()).isEqualTo(Optional.of(new KeySource.OfCommand("print-key", java.time.Duration.ofSeconds(30))));
        assertThat(command.setKeyEnvironment("KEY").isSourceUnique()).isFalse();
    }
}
