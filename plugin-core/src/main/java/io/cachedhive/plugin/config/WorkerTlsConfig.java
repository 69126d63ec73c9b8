package io.cachedhive.plugin.config;

import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.configuration.ConfigSecuritySensitive;
import io.cachedhive.transport.tls.KeyFile;
import jakarta.validation.constraints.NotNull;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The certificates for connections to cache workers. Without them, the shared secret alone authenticates both ends.
 */
public class WorkerTlsConfig
{
    private Optional<Path> keystorePath = Optional.empty();
    private Optional<String> keystorePassword = Optional.empty();
    private Optional<Path> truststorePath = Optional.empty();
    private Optional<String> truststorePassword = Optional.empty();

    @NotNull
    public Optional<Path> getKeystorePath()
    {
        return keystorePath;
    }

    @Config("cachedhive.worker.tls.keystore-path")
    @ConfigDescription("Key and certificate of this Trino server for connections to cache workers, as PEM, PKCS12 or JKS; read again when the file changes")
    public WorkerTlsConfig setKeystorePath(Path keystorePath)
    {
        this.keystorePath = Optional.ofNullable(keystorePath);
        return this;
    }

    @NotNull
    public Optional<String> getKeystorePassword()
    {
        return keystorePassword;
    }

    @Config("cachedhive.worker.tls.keystore-password")
    @ConfigSecuritySensitive
    @ConfigDescription("Password of the keystore for connections to cache workers")
    public WorkerTlsConfig setKeystorePassword(String keystorePassword)
    {
        this.keystorePassword = Optional.ofNullable(keystorePassword);
        return this;
    }

    @NotNull
    public Optional<Path> getTruststorePath()
    {
        return truststorePath;
    }

    @Config("cachedhive.worker.tls.truststore-path")
    @ConfigDescription("Authorities that sign the certificates of cache workers; if set, every cache worker must have such a certificate; read again when the file changes")
    public WorkerTlsConfig setTruststorePath(Path truststorePath)
    {
        this.truststorePath = Optional.ofNullable(truststorePath);
        return this;
    }

    @NotNull
    public Optional<String> getTruststorePassword()
    {
        return truststorePassword;
    }

    @Config("cachedhive.worker.tls.truststore-password")
    @ConfigSecuritySensitive
    @ConfigDescription("Password of the truststore for connections to cache workers")
    public WorkerTlsConfig setTruststorePassword(String truststorePassword)
    {
        this.truststorePassword = Optional.ofNullable(truststorePassword);
        return this;
    }

    public Optional<KeyFile> keystore()
    {
        return keystorePath.map(path -> new KeyFile("cachedhive.worker.tls.keystore-path", path, keystorePassword));
    }

    public Optional<KeyFile> truststore()
    {
        return truststorePath.map(path -> new KeyFile("cachedhive.worker.tls.truststore-path", path, truststorePassword));
    }
}
