package io.cachedhive.transport.tls;

import io.airlift.security.cert.CertificateBuilder;

import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.security.auth.x500.X500Principal;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.LocalDate;
import java.time.ZoneOffset;

/**
 * Creates the TLS contexts of both ends of a connection that is authenticated by the shared secret. The certificate of
 * the server is made at each start and checked by nobody: both ends prove the secret over the key material of the TLS
 * connection, so an attacker between them fails, whatever certificate it shows.
 */
public final class TlsContexts
{
    private static final char[] NO_PASSWORD = new char[0];
    private static final int VALID_YEARS = 10;

    private TlsContexts() {}

    /**
     * Returns a context for servers with a new key pair (ECDSA, P-256) and a self-signed certificate.
     */
    public static SSLContext selfSignedServer()
    {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair pair = generator.generateKeyPair();
            X500Principal name = new X500Principal("CN=cachedhive");
            LocalDate today = LocalDate.now(ZoneOffset.UTC);
            X509Certificate certificate = CertificateBuilder.certificateBuilder()
                    .setKeyPair(pair)
                    .setSerialNumber(new SecureRandom().nextLong() >>> 1)
                    .setIssuer(name)
                    .setSubject(name)
                    .setNotBefore(today.minusDays(1))
                    .setNotAfter(today.plusYears(VALID_YEARS))
                    .buildSelfSigned();
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(null, NO_PASSWORD);
            keys.setKeyEntry("cachedhive", pair.getPrivate(), NO_PASSWORD, new X509Certificate[] {certificate});
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(keys, NO_PASSWORD);
            return context(factory.getKeyManagers(), new PeerTrust(_ -> {}));
        }
        catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("cannot create a key pair for TLS: " + e.getMessage(), e);
        }
    }

    /**
     * Returns a context for clients that check the server by the shared secret instead of its certificate.
     */
    public static SSLContext secretClient()
    {
        try {
            return context(new KeyManager[0], new PeerTrust(_ -> {}));
        }
        catch (GeneralSecurityException e) {
            throw new IllegalStateException("cannot create a TLS context: " + e.getMessage(), e);
        }
    }

    static SSLContext context(KeyManager[] keys, TrustManager trust)
            throws GeneralSecurityException
    {
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(keys, new TrustManager[] {trust}, null);
        // no session is resumed, so none is kept; 0 would mean no limit
        context.getServerSessionContext().setSessionCacheSize(1);
        context.getClientSessionContext().setSessionCacheSize(1);
        return context;
    }
}
