package io.cachedhive.admin.settings;

import io.airlift.security.pem.PemReader;
import io.cachedhive.admin.cluster.ClusterFileException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.PKIXParameters;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * PEM files on this machine with a certificate, its key, and the authorities of its peers. They are checked before any
 * host gets them, because a process keeps its last certificate only until it restarts.
 */
public final class CertificateFile
{
    private static final int URI_TYPE = 6;
    private static final String SCHEME = "cachedhive:";
    private static final Pattern NAME = Pattern.compile(SCHEME + "//[A-Za-z0-9._-]{1,64}/(client|worker)(?:/(?:\\*|[A-Za-z0-9._-]{1,64}))?");

    private final Path file;
    private final List<X509Certificate> chain;
    private final String text;

    /**
     * The owner of a certificate.
     */
    public enum Role
    {
        WORKER,
        CLIENT
    }

    private CertificateFile(Path file, List<X509Certificate> chain, String text)
    {
        this.file = requireNonNull(file, "file is null");
        this.chain = List.copyOf(chain);
        this.text = requireNonNull(text, "text is null");
    }

    /// Reads and checks a certificate with its chain, and its key.
    ///
    /// @param key may be the same file
    /// @param password of the key; empty if it is not encrypted
    /// @throws ClusterFileException if a file cannot be used, with a sentence
    public static CertificateFile read(Path certificate, Path key, Optional<String> password, Role role, Clock clock)
            throws ClusterFileException
    {
        String certificateText = text(certificate);
        String keyText = text(key);
        List<X509Certificate> chain = chain(certificate, certificateText);
        PrivateKey privateKey;
        try {
            privateKey = PemReader.loadPrivateKey(keyText, password);
        }
        catch (IOException | GeneralSecurityException | RuntimeException e) {
            throw new ClusterFileException(("The key %s cannot be used (%s): name a PEM file with the private key, and set the password of an encrypted key in worker-properties "
                    + "or in the catalog.").formatted(key, reason(e)));
        }
        X509Certificate leaf = chain.getFirst();
        if (!belongTogether(leaf, privateKey)) {
            throw new ClusterFileException("The key %s does not belong to the first certificate in %s (%s): name the key that the certificate was requested with."
                    .formatted(key, certificate, leaf.getSubjectX500Principal()));
        }
        for (X509Certificate each : chain) {
            checkValidity(certificate, each, clock.instant());
        }
        checkName(certificate, leaf, role);
        return new CertificateFile(certificate, chain, certificate.equals(key) ? certificateText : certificateText + keyText);
    }

    /// Reads and checks certificates of authorities.
    ///
    /// @return the text of the file
    /// @throws ClusterFileException if it cannot be used, or an authority is not valid now
    public static String readTruststore(Path truststore, Clock clock)
            throws ClusterFileException
    {
        String text = text(truststore);
        for (X509Certificate certificate : chain(truststore, text)) {
            checkValidity(truststore, certificate, clock.instant());
        }
        return text;
    }

    /// Checks that peers with a truststore accept the certificate.
    ///
    /// @throws ClusterFileException if they do not
    public void checkTrusted(Path truststore, Clock clock)
            throws ClusterFileException
    {
        try {
            KeyStore trusted = PemReader.loadTrustStore(truststore.toFile());
            PKIXParameters parameters = new PKIXParameters(trusted);
            parameters.setRevocationEnabled(false);
            parameters.setDate(Date.from(clock.instant()));
            // an authority at the end of the chain is in the truststore
            List<X509Certificate> path = chain.stream().filter(certificate -> !contains(trusted, certificate) || certificate.equals(chain.getFirst())).toList();
            if (contains(trusted, chain.getFirst())) {
                return;
            }
            CertPathValidator.getInstance("PKIX").validate(CertificateFactory.getInstance("X.509").generateCertPath(path), parameters);
        }
        catch (CertPathValidatorException e) {
            throw new ClusterFileException(("No authority in %s signed the certificate in %s (%s): add the authority to the truststore, "
                    + "and intermediate certificates to the chain.").formatted(truststore, file, reason(e)));
        }
        catch (IOException | InvalidAlgorithmParameterException e) {
            throw new ClusterFileException("The truststore %s cannot be used (%s): name a PEM file with the certificates of authorities.".formatted(truststore, reason(e)));
        }
        catch (GeneralSecurityException e) {
            throw new AssertionError("every Java platform checks certificates", e);
        }
    }

    /// The content of a keystore in PEM: the certificate with its chain, and the key.
    public String content()
    {
        return text;
    }

    /// The end of the validity of the certificate.
    public Instant validUntil()
    {
        return chain.getFirst().getNotAfter().toInstant();
    }

    private static boolean contains(KeyStore trusted, X509Certificate certificate)
    {
        try {
            return trusted.getCertificateAlias(certificate) != null;
        }
        catch (GeneralSecurityException e) {
            throw new AssertionError("the key store is loaded", e);
        }
    }

    private static String text(Path file)
            throws ClusterFileException
    {
        try {
            String text = Files.readString(file);
            return text.endsWith("\n") ? text : text + "\n";
        }
        catch (IOException e) {
            throw new ClusterFileException("%s cannot be read (%s): name a PEM file that you may read.".formatted(file, e.getClass().getSimpleName()));
        }
    }

    private static List<X509Certificate> chain(Path file, String text)
            throws ClusterFileException
    {
        List<X509Certificate> chain;
        try {
            chain = PemReader.readCertificateChain(text);
        }
        catch (GeneralSecurityException | RuntimeException e) {
            throw new ClusterFileException("%s is not a PEM file with certificates (%s): convert it, for example with openssl x509 -outform PEM.".formatted(file, reason(e)));
        }
        if (chain.isEmpty()) {
            throw new ClusterFileException("%s has no certificate: name a PEM file with one, between BEGIN CERTIFICATE and END CERTIFICATE.".formatted(file));
        }
        return chain;
    }

    private static void checkValidity(Path file, X509Certificate certificate, Instant now)
            throws ClusterFileException
    {
        try {
            certificate.checkValidity(Date.from(now));
        }
        catch (CertificateExpiredException _) {
            throw new ClusterFileException("%s: the certificate of %s expired at %s: renew it.".formatted(
                    file, certificate.getSubjectX500Principal(), certificate.getNotAfter().toInstant()));
        }
        catch (CertificateNotYetValidException _) {
            throw new ClusterFileException("%s: the certificate of %s is not valid before %s: wait, or correct the clock of this machine.".formatted(
                    file, certificate.getSubjectX500Principal(), certificate.getNotBefore().toInstant()));
        }
    }

    private static void checkName(Path file, X509Certificate certificate, Role role)
            throws ClusterFileException
    {
        List<String> names;
        try {
            Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
            names = alternatives == null ? List.of() : alternatives.stream()
                    .filter(alternative -> alternative.get(0).equals(URI_TYPE))
                    .map(alternative -> (String) alternative.get(1))
                    .filter(uri -> uri.startsWith(SCHEME))
                    .toList();
        }
        catch (GeneralSecurityException e) {
            throw new ClusterFileException("%s: the subject alternative names of the certificate cannot be read (%s): request it again.".formatted(file, reason(e)));
        }
        String expected = role == Role.WORKER ? "cachedhive://CLUSTER/worker/*" : "cachedhive://CLUSTER/client";
        if (names.size() > 1) {
            throw new ClusterFileException("%s: the certificate has the names %s, and may have one: request it with the URI %s."
                    .formatted(file, String.join(", ", names), expected));
        }
        for (String name : names) {
            var matcher = NAME.matcher(name);
            if (!matcher.matches() || !matcher.group(1).equals(role.name().toLowerCase(Locale.ROOT))) {
                throw new ClusterFileException("%s: the certificate has the name %s, which is not that of a %s: request it with the URI %s."
                        .formatted(file, name, role == Role.WORKER ? "cache worker" : "Trino server", expected));
            }
        }
    }

    private static boolean belongTogether(X509Certificate certificate, PrivateKey key)
    {
        String algorithm = switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            case "DSA" -> "SHA256withDSA";
            default -> key.getAlgorithm();
        };
        byte[] message = certificate.getPublicKey().getEncoded();
        try {
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key);
            signature.update(message);
            byte[] signed = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            signature.update(message);
            return signature.verify(signed);
        }
        catch (GeneralSecurityException _) {
            // of another algorithm
            return false;
        }
    }

    private static String reason(Exception e)
    {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage().lines().findFirst().orElse("");
    }
}
