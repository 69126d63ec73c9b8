package io.cachedhive.worker.storage;

import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.units.Duration;
import io.airlift.units.MinDuration;
import io.cachedhive.store.encryption.KeySource;
import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.NotNull;

import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

import static java.util.concurrent.TimeUnit.SECONDS;

/**
 * The key of the operator that protects the SSD and state directories.
 */
public class EncryptionConfig
{
    private Optional<Path> keyFile = Optional.empty();
    private Optional<String> keyEnvironment = Optional.empty();
    private Optional<String> keyCommand = Optional.empty();
    private Duration keyCommandTimeout = new Duration(30, SECONDS);

    @NotNull
    public Optional<Path> getKeyFile()
    {
        return keyFile;
    }

    @Config("cache.encryption.key-file")
    @ConfigDescription("File with the key, 32 bytes in Base64 or hexadecimal digits, that encrypts the SSD and state directories; not readable by other users")
    public EncryptionConfig setKeyFile(Path keyFile)
    {
        this.keyFile = Optional.ofNullable(keyFile).filter(value -> !value.toString().isBlank());
        return this;
    }

    @NotNull
    public Optional<String> getKeyEnvironment()
    {
        return keyEnvironment;
    }

    @Config("cache.encryption.key-environment")
    @ConfigDescription("Name of an environment variable with this key, instead of a file")
    public EncryptionConfig setKeyEnvironment(String keyEnvironment)
    {
        this.keyEnvironment = Optional.ofNullable(keyEnvironment).filter(value -> !value.isBlank());
        return this;
    }

    @NotNull
    public Optional<String> getKeyCommand()
    {
        return keyCommand;
    }

    @Config("cache.encryption.key-command")
    @ConfigDescription("Shell command that prints this key, instead of a file")
    public EncryptionConfig setKeyCommand(String keyCommand)
    {
        this.keyCommand = Optional.ofNullable(keyCommand).filter(value -> !value.isBlank());
        return this;
    }

    @NotNull
    @MinDuration("1s")
    public Duration getKeyCommandTimeout()
    {
        return keyCommandTimeout;
    }

    @Config("cache.encryption.key-command-timeout")
    @ConfigDescription("Time in which the command has to end")
    public EncryptionConfig setKeyCommandTimeout(Duration keyCommandTimeout)
    {
        this.keyCommandTimeout = keyCommandTimeout;
        return this;
    }

    @AssertTrue(message = "only one of cache.encryption.key-file, cache.encryption.key-environment and cache.encryption.key-command may be set")
    public boolean isSourceUnique()
    {
        return Stream.of(keyFile, keyEnvironment, keyCommand).filter(Optional::isPresent).count() <= 1;
    }

    /**
     * Returns where the key comes from; empty if nothing is to be encrypted.
     */
    public Optional<KeySource> toKeySource()
    {
        return keyFile.<KeySource>map(file -> new KeySource.OfFile(file.toAbsolutePath().normalize()))
                .or(() -> keyEnvironment.map(KeySource.OfEnvironment::new))
                .or(() -> keyCommand.map(command -> new KeySource.OfCommand(command, keyCommandTimeout.toJavaTime())));
    }
}
