package io.cachedhive.admin.cluster;

import io.airlift.security.pem.PemReader;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

import java.io.File;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * HTTPS of cache workers and Trino, with the options of the Trino CLI.
 *
 * @param truststorePath certificates to trust, as PEM, PKCS12 or JKS; without it, those that Java trusts
 * @param keystorePath key and certificate of this client, as PEM, PKCS12 or JKS
 * @param insecure trusts every certificate and every host name
 */
public record TlsSettings(
        Optional<Path> truststorePath,
        Optional<String> truststorePassword,
        Optional<Path> keystorePath,
        Optional<String> keystorePassword,
        boolean insecure)
{
    /// What Java trusts, without a certificate of this client.
    public static final TlsSettings DEFAULT = new TlsSettings(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), false);

    public TlsSettings
    {
        requireNonNull(truststorePath, "truststorePath is null");
        requireNonNull(truststorePassword, "truststorePassword is null");
        requireNonNull(keystorePath, "keystorePath is null");
        requireNonNull(keystorePassword, "keystorePassword is null");
    }

    /// @throws ClusterFileException if a file cannot be used
    public SSLContext context()
            throws ClusterFileException
    {
        KeyManagerFactory keys;
        TrustManagerFactory trust;
        try {
            keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(null, null);
            trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init((KeyStore) null);
        }
        catch (GeneralSecurityException e) {
            throw new AssertionError("every Java platform has default managers", e);
        }
        if (keystorePath.isPresent()) {
            File file = keystorePath.get().toFile();
            char[] password = keystorePassword.orElse("").toCharArray();
            try {
                if (PemReader.isPem(file)) {
                    // the key store in memory has the password of the key, or none
                    keys.init(PemReader.loadKeyStore(file, file, keystorePassword, false), new char[0]);
                }
                else {
                    keys.init(KeyStore.getInstance(file, password), password);
                }
            }
            catch (IOException | GeneralSecurityException | RuntimeException e) {
                throw new ClusterFileException("The keystore %s cannot be used (%s): correct keystore-path and keystore-password of tls in the hosts file."
                        .formatted(file, reason(e)));
            }
        }
        if (truststorePath.isPresent()) {
            File file = truststorePath.get().toFile();
            try {
                char[] password = truststorePassword.map(String::toCharArray).orElse(null);
                trust.init(PemReader.isPem(file) ? PemReader.loadTrustStore(file) : KeyStore.getInstance(file, password));
            }
            catch (IOException | GeneralSecurityException | RuntimeException e) {
                throw new ClusterFileException("The truststore %s cannot be used (%s): correct truststore-path and truststore-password of tls in the hosts file."
                        .formatted(file, reason(e)));
            }
        }
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), insecure ? new TrustManager[] {new TrustEverything()} : trust.getTrustManagers(), null);
            return context;
        }
        catch (GeneralSecurityException e) {
            throw new AssertionError("every Java platform has TLS", e);
        }
    }

    private static String reason(Exception e)
    {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    @Override
    public String toString()
    {
        // without the passwords
        return "TlsSettings{truststorePath=%s, keystorePath=%s, insecure=%s}".formatted(truststorePath, keystorePath, insecure);
    }

    /// Extended, because Java checks host names itself for all others.
    private static final class TrustEverything
            extends X509ExtendedTrustManager
    {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authenticationType) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authenticationType, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authenticationType, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authenticationType) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authenticationType, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authenticationType, SSLEngine engine) {}

        @Override
        public X509Certificate[] getAcceptedIssuers()
        {
            return new X509Certificate[0];
        }
    }
}
