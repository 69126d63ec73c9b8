package io.cachedhive.transport.tls;

import io.airlift.log.Logger;
import io.airlift.security.pem.PemReader;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.transport.tls.CertificateName.Role;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import static java.nio.file.attribute.PosixFilePermission.GROUP_WRITE;
import static java.nio.file.attribute.PosixFilePermission.OTHERS_READ;
import static java.nio.file.attribute.PosixFilePermission.OTHERS_WRITE;
import static java.util.Objects.requireNonNull;

/**
 * The certificates of the operator for the block port: the own key and certificate from a keystore, and the authorities
 * of the peers from a truststore. The files are read again when their contents change.
 *
 * <p>Files that become invalid do not end the process: the last valid credentials stay in use, and {@link #problem}
 * reports the reason.
 */
public final class Certificates
{
    private static final Logger log = Logger.get(Certificates.class);

    /**
     * The remaining validity of the own certificate below which it is reported.
     */
    static final Duration EXPIRY_WARNING = Duration.ofDays(14);

    private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long LOG_NANOS = TimeUnit.DAYS.toNanos(1);
    private static final long MAX_BYTES = 1 << 20;

    private final Role role;
    private final KeyFile keystore;
    private final Optional<KeyFile> truststore;
    private final InstantSource clock;
    private final LongSupplier nanoTime;
    private State state;
    private long checkedNanos;
    private Optional<String> problem = Optional.empty();
    private long loggedNanos;

    private record State(byte[] keystore, byte[] truststore, TlsCredentials credentials) {}

    /**
     * Thrown if the certificates cannot be used. The message is a sentence that names the property and the fix.
     */
    public static final class InvalidCertificatesException
            extends Exception
    {
        public InvalidCertificatesException(String message)
        {
            super(message);
        }
    }

    private Certificates(Role role, KeyFile keystore, Optional<KeyFile> truststore, InstantSource clock, LongSupplier nanoTime)
            throws InvalidCertificatesException
    {
        this.role = requireNonNull(role, "role is null");
        this.keystore = requireNonNull(keystore, "keystore is null");
        this.truststore = requireNonNull(truststore, "truststore is null");
        this.clock = requireNonNull(clock, "clock is null");
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
        state = read();
        checkedNanos = nanoTime.getAsLong();
        updateProblem(Optional.empty());
    }

    /**
     * Returns the certificates that a configuration names.
     *
     * @param role what this process is
     * @param secret whether there is a shared secret, which certificates do not replace
     * @return empty if the configuration names no certificates
     * @throws InvalidCertificatesException if the configuration is contradictory, or a file cannot be used
     */
    public static Optional<Certificates> configured(Role role, Optional<KeyFile> keystore, Optional<KeyFile> truststore, boolean secret)
            throws InvalidCertificatesException
    {
        if (keystore.isEmpty()) {
            if (truststore.isPresent()) {
                throw new InvalidCertificatesException("%s is set without a keystore, so that no peer could check this process: set %s, too"
                        .formatted(truststore.get().property(), truststore.get().property().replace("truststore", "keystore")));
            }
            return Optional.empty();
        }
        if (!secret) {
            throw new InvalidCertificatesException("%s is set without a shared secret, which peers prove in addition to their certificates: set the shared secret, too"
                    .formatted(keystore.get().property()));
        }
        Certificates certificates = open(role, keystore.get(), truststore);
        if (truststore.isEmpty()) {
            log.warn("Certificates of peers are not checked: set %s when all peers have certificates", keystore.get().property().replace("keystore", "truststore"));
        }
        return Optional.of(certificates);
    }

    /**
     * Reads the files.
     *
     * @param truststore the authorities of peers; empty to check no certificates of peers
     * @throws InvalidCertificatesException if a file cannot be used
     */
    public static Certificates open(Role role, KeyFile keystore, Optional<KeyFile> truststore)
            throws InvalidCertificatesException
    {
        return open(role, keystore, truststore, InstantSource.system(), System::nanoTime);
    }

    /**
     * As {@link #open(Role, KeyFile, Optional)}.
     *
     * @param clock the time to compare with the expiry of the own certificate
     * @param nanoTime the time between two checks of the files, as {@link System#nanoTime}
     */
    public static Certificates open(Role role, KeyFile keystore, Optional<KeyFile> truststore, InstantSource clock, LongSupplier nanoTime)
            throws InvalidCertificatesException
    {
        return new Certificates(role, keystore, truststore, clock, nanoTime);
    }

    /**
     * Returns the credentials for a new connection, from the files as they were at most ten seconds ago.
     */
    public synchronized TlsCredentials current()
    {
        long now = nanoTime.getAsLong();
        if (now - checkedNanos >= CHECK_NANOS) {
            checkedNanos = now;
            refresh();
        }
        return state.credentials();
    }

    /**
     * Returns what is wrong with the files or with the own certificate and how to fix it, or empty if they are in order.
     */
    public synchronized Optional<String> problem()
    {
        current();
        return problem;
    }

    /**
     * Returns the problem as {@link #problem()} does, or why the own certificate does not fit to the id of this cache
     * worker.
     */
    public Optional<String> problem(CacheWorkerId self)
    {
        return problem().or(() -> current().workerProblem(self));
    }

    /**
     * Returns the time until the own certificate expires; zero if it has expired.
     */
    public Duration remaining()
    {
        Duration remaining = Duration.between(clock.instant(), current().expiry());
        return remaining.isNegative() ? Duration.ZERO : remaining;
    }

    private void refresh()
    {
        Optional<String> unusable = Optional.empty();
        try {
            if (!Arrays.equals(state.keystore(), bytes(keystore)) || !Arrays.equals(state.truststore(), truststoreBytes())) {
                state = read();
                log.info("Loaded the certificate %s, valid until %s", state.credentials().subject(), state.credentials().expiry());
            }
        }
        catch (InvalidCertificatesException e) {
            unusable = Optional.of(e.getMessage() + "; the former certificates stay in use");
        }
        updateProblem(unusable);
    }

    private void updateProblem(Optional<String> unusable)
    {
        TlsCredentials credentials = state.credentials();
        Optional<String> found = unusable
                .or(() -> credentials.ownProblem(clock.instant()).map(end -> "the certificate %s in %s %s".formatted(credentials.subject(), keystore, end)))
                .or(() -> clock.instant().isAfter(credentials.expiry().minus(EXPIRY_WARNING)) ?
                        Optional.of("the certificate %s in %s expires at %s: replace the file by one with a new certificate"
                                .formatted(credentials.subject(), keystore, credentials.expiry())) :
                        Optional.empty());
        long now = nanoTime.getAsLong();
        if (found.isPresent() && (!found.equals(problem) || now - loggedNanos >= LOG_NANOS)) {
            log.warn("%s", found.get());
            loggedNanos = now;
        }
        problem = found;
    }

    private State read()
            throws InvalidCertificatesException
    {
        // the contents first: a change while the files are parsed is noticed at the next check
        byte[] keystoreBytes = bytes(keystore);
        byte[] truststoreBytes = truststoreBytes();
        return new State(keystoreBytes, truststoreBytes, credentials());
    }

    private byte[] truststoreBytes()
            throws InvalidCertificatesException
    {
        return truststore.isPresent() ? bytes(truststore.get()) : new byte[0];
    }

    private static byte[] bytes(KeyFile file)
            throws InvalidCertificatesException
    {
        try {
            if (!Files.isRegularFile(file.path())) {
                throw new InvalidCertificatesException("%s is not a regular file: correct the path".formatted(file));
            }
            long size = Files.size(file.path());
            if (size > MAX_BYTES) {
                throw new InvalidCertificatesException("%s has %s bytes, at most %s are allowed: correct the path".formatted(file, size, MAX_BYTES));
            }
            return Files.readAllBytes(file.path());
        }
        catch (IOException e) {
            throw new InvalidCertificatesException("%s cannot be read (%s): let the user of this process read it".formatted(file, e));
        }
    }

    private TlsCredentials credentials()
            throws InvalidCertificatesException
    {
        requirePermissions(keystore, Set.of(OTHERS_READ, OTHERS_WRITE, GROUP_WRITE), "o-rwx,g-w");
        KeyStore keys = load(keystore);
        X509Certificate certificate = own(keys);
        CertificateName name = CertificateName.of(certificate)
                .filter(found -> found.role().permits(role))
                .orElseThrow(() -> new InvalidCertificatesException(
                        "the certificate in %s does not name a cachedhive %s: issue it with the subject alternative name URI:cachedhive://CLUSTER/%s"
                        .formatted(keystore, role, role == Role.WORKER ? "worker/ID" : "client")));
        try {
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(keys, keyPassword(keystore));
            return new TlsCredentials(certificate, name, factory.getKeyManagers(), truststore.isPresent() ? Optional.of(authorities(truststore.get())) : Optional.empty());
        }
        catch (GeneralSecurityException e) {
            throw unusable(keystore, e);
        }
    }

    private static void requirePermissions(KeyFile file, Set<PosixFilePermission> forbidden, String remedy)
            throws InvalidCertificatesException
    {
        try {
            if (!Collections.disjoint(Files.getPosixFilePermissions(file.path()), forbidden)) {
                throw new InvalidCertificatesException("%s is open to other users: run chmod %s %s".formatted(file, remedy, file.path()));
            }
        }
        catch (IOException e) {
            throw new InvalidCertificatesException("%s cannot be read (%s): let the user of this process read it".formatted(file, e));
        }
    }

    private static KeyStore load(KeyFile file)
            throws InvalidCertificatesException
    {
        File path = file.path().toFile();
        try {
            if (PemReader.isPem(path)) {
                return PemReader.loadKeyStore(path, path, file.password(), false);
            }
            return KeyStore.getInstance(path, file.password().orElse("").toCharArray());
        }
        catch (IOException | GeneralSecurityException | RuntimeException e) {
            throw unusable(file, e);
        }
    }

    // PemReader leaves the keys in memory without a password
    private static char[] keyPassword(KeyFile file)
            throws InvalidCertificatesException
    {
        try {
            return PemReader.isPem(file.path().toFile()) ? new char[0] : file.password().orElse("").toCharArray();
        }
        catch (IOException e) {
            throw unusable(file, e);
        }
    }

    private X509Certificate own(KeyStore keys)
            throws InvalidCertificatesException
    {
        try {
            List<String> aliases = Collections.list(keys.aliases());
            aliases.removeIf(alias -> !isKey(keys, alias));
            if (aliases.size() != 1 || !(keys.getCertificate(aliases.getFirst()) instanceof X509Certificate certificate)) {
                throw new InvalidCertificatesException("%s has %s private keys instead of one with its certificate: leave the other keys out".formatted(keystore, aliases.size()));
            }
            return certificate;
        }
        catch (GeneralSecurityException e) {
            throw unusable(keystore, e);
        }
    }

    private static boolean isKey(KeyStore keys, String alias)
    {
        try {
            return keys.isKeyEntry(alias);
        }
        catch (GeneralSecurityException e) {
            throw new AssertionError("the keystore is loaded", e);
        }
    }

    private static X509TrustManager authorities(KeyFile file)
            throws InvalidCertificatesException
    {
        requirePermissions(file, Set.of(OTHERS_WRITE), "o-w");
        File path = file.path().toFile();
        try {
            KeyStore trusted = PemReader.isPem(path) ?
                    PemReader.loadTrustStore(path) :
                    KeyStore.getInstance(path, file.password().map(String::toCharArray).orElse(null));
            TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
            factory.init(trusted);
            for (TrustManager manager : factory.getTrustManagers()) {
                if (manager instanceof X509TrustManager authorities && authorities.getAcceptedIssuers().length > 0) {
                    return authorities;
                }
            }
            throw new InvalidCertificatesException("%s has no certificate of an authority: add one".formatted(file));
        }
        catch (IOException | GeneralSecurityException | RuntimeException e) {
            throw unusable(file, e);
        }
    }

    private static InvalidCertificatesException unusable(KeyFile file, Exception cause)
    {
        return new InvalidCertificatesException("%s cannot be used (%s): it must be a file in PEM, PKCS12 or JKS, with its password in the configuration"
                .formatted(file, cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage()));
    }
}
