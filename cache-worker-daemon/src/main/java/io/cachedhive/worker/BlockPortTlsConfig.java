package io.cachedhive.worker;

import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.configuration.ConfigSecuritySensitive;
import io.cachedhive.transport.tls.KeyFile;
import jakarta.validation.constraints.NotNull;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The certificates of the block port. Without them, the cache worker makes a self-signed one at each start.
 */
public class BlockPortTlsConfig
{
    private Optional<Path> keystorePath = Optional.empty();
    private Optional<String> keystoreKey = Optional.empty();
    private Optional<Path> truststorePath = Optional.empty();
    private Optional<String> truststoreKey = Optional.empty();

    @NotNull
    public Optional<Path> getKeystorePath()
    {
        return keystorePath;
    }

    @Config("internal-communication.https.keystore.path")
    @ConfigDescription("Key and certificate of this cache worker for the block port, as PEM, PKCS12 or JKS; read again when the file changes")
    public BlockPortTlsConfig setKeystorePath(Path keystorePath)
    {
        this.keystorePath = Optional.ofNullable(keystorePath);
        return this;
    }

    @NotNull
    public Optional<String> getKeystoreKey()
    {
        return keystoreKey;
    }

    @Config("internal-communication.https.keystore.key")
    @ConfigSecuritySensitive
    @ConfigDescription("Password of the keystore of the block port")
    public BlockPortTlsConfig setKeystoreKey(String keystoreKey)
    {
        this.keystoreKey = Optional.ofNullable(keystoreKey);
        return this;
    }

    @NotNull
    public Optional<Path> getTruststorePath()
    {
        return truststorePath;
    }

    @Config("internal-communication.https.truststore.path")
    @ConfigDescription("Authorities that sign the certificates of peers on the block port; if set, every peer must have such a certificate; read again when the file changes")
    public BlockPortTlsConfig setTruststorePath(Path truststorePath)
    {
        this.truststorePath = Optional.ofNullable(truststorePath);
        return this;
    }

    @NotNull
    public Optional<String> getTruststoreKey()
    {
        return truststoreKey;
    }

    @Config("internal-communication.https.truststore.key")
    @ConfigSecuritySensitive
    @ConfigDescription("Password of the truststore of the block port")
    public BlockPortTlsConfig setTruststoreKey(String truststoreKey)
    {
        this.truststoreKey = Optional.ofNullable(truststoreKey);
        return this;
    }

    Optional<KeyFile> keystore()
    {
        return keystorePath.map(path -> new KeyFile("internal-communication.https.keystore.path", path, keystoreKey));
    }

    Optional<KeyFile> truststore()
    {
        return truststorePath.map(path -> new KeyFile("internal-communication.https.truststore.path", path, truststoreKey));
    }
}
