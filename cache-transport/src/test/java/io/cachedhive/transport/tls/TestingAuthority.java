package io.cachedhive.transport.tls;

import io.airlift.security.pem.PemWriter;

import javax.security.auth.x500.X500Principal;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static io.airlift.security.der.DerUtils.encodeBitString;
import static io.airlift.security.der.DerUtils.encodeBooleanTrue;
import static io.airlift.security.der.DerUtils.encodeContextSpecificSequence;
import static io.airlift.security.der.DerUtils.encodeInteger;
import static io.airlift.security.der.DerUtils.encodeLength;
import static io.airlift.security.der.DerUtils.encodeOctetString;
import static io.airlift.security.der.DerUtils.encodeOid;
import static io.airlift.security.der.DerUtils.encodeSequence;
import static io.airlift.security.der.DerUtils.encodeUtcTime;
import static java.nio.charset.StandardCharsets.US_ASCII;

/**
 * A certificate authority in memory, which writes PEM files. The builder of airlift makes neither authorities nor URIs.
 */
public final class TestingAuthority
{
    private static final AtomicLong SERIAL = new AtomicLong(1);
    private static final byte URI_TAG = (byte) 0x86;
    private static final byte[] ECDSA_WITH_SHA256 = encodeSequence(encodeOid("1.2.840.10045.4.3.2"));
    private static final byte[] SUBJECT_ALTERNATIVE_NAME = encodeOid("2.5.29.17");
    private static final byte[] BASIC_CONSTRAINTS = encodeOid("2.5.29.19");

    private final KeyPair keys = newKeys();
    private final X500Principal name;
    private final X509Certificate certificate;

    public TestingAuthority(String name)
    {
        this.name = new X500Principal("CN=" + name);
        byte[] constraints = encodeSequence(BASIC_CONSTRAINTS, encodeBooleanTrue(), encodeOctetString(encodeSequence(encodeBooleanTrue())));
        this.certificate = sign(this.name, keys, Instant.now().minus(Duration.ofDays(100)), Instant.now().plus(Duration.ofDays(100)), constraints);
    }

    private static KeyPair newKeys()
    {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        }
        catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private X509Certificate sign(X500Principal subject, KeyPair subjectKeys, Instant from, Instant to, byte[] extension)
    {
        byte[] body = encodeSequence(
                // version 3
                encodeContextSpecificSequence(0, encodeInteger(2)),
                encodeInteger(SERIAL.getAndIncrement()),
                ECDSA_WITH_SHA256,
                name.getEncoded(),
                encodeSequence(encodeUtcTime(from.truncatedTo(ChronoUnit.SECONDS)), encodeUtcTime(to.truncatedTo(ChronoUnit.SECONDS))),
                subject.getEncoded(),
                subjectKeys.getPublic().getEncoded(),
                encodeContextSpecificSequence(3, encodeSequence(extension)));
        try {
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(keys.getPrivate());
            signature.update(body);
            byte[] encoded = encodeSequence(body, ECDSA_WITH_SHA256, encodeBitString(0, signature.sign()));
            return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(encoded));
        }
        catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Writes a key with its certificate, valid from an hour ago for 90 days.
     *
     * @param uri the subject alternative name
     */
    public void issue(Path file, String uri)
    {
        issue(file, uri, Instant.now().minus(Duration.ofHours(1)), Instant.now().plus(Duration.ofDays(90)));
    }

    /**
     * Writes a key with its certificate.
     */
    public void issue(Path file, String uri, Instant from, Instant to)
    {
        KeyPair subjectKeys = newKeys();
        write(file, PemWriter.writePrivateKey(subjectKeys.getPrivate()) + pem(certificate(uri, subjectKeys, from, to)));
    }

    /**
     * Returns a certificate in PEM that belongs to no key of this process.
     */
    public String certificateWithoutKey(String uri)
    {
        return pem(certificate(uri, newKeys(), Instant.now(), Instant.now().plus(Duration.ofDays(90))));
    }

    private X509Certificate certificate(String uri, KeyPair subjectKeys, Instant from, Instant to)
    {
        byte[] text = uri.getBytes(US_ASCII);
        byte[] length = encodeLength(text.length);
        byte[] uriName = ByteBuffer.allocate(1 + length.length + text.length).put(URI_TAG).put(length).put(text).array();
        byte[] names = encodeSequence(uriName);
        return sign(new X500Principal("CN=peer"), subjectKeys, from, to, encodeSequence(SUBJECT_ALTERNATIVE_NAME, encodeOctetString(names)));
    }

    private static String pem(X509Certificate certificate)
    {
        try {
            return PemWriter.writeCertificate(certificate);
        }
        catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Writes a truststore with authorities.
     */
    public static void trust(Path file, TestingAuthority... authorities)
    {
        write(file, Stream.of(authorities).map(authority -> pem(authority.certificate)).collect(Collectors.joining()));
    }

    /**
     * Replaces a file at once, with mode 0600.
     */
    public static void write(Path file, String text)
    {
        Path temporary = file.resolveSibling(file.getFileName() + ".new");
        try {
            Files.deleteIfExists(temporary);
            Files.createFile(temporary, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(temporary, text);
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns a file without password.
     */
    public static KeyFile file(String property, Path path)
    {
        return new KeyFile(property, path, Optional.empty());
    }
}
