package io.cachedhive.transport.tls;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.transport.tls.CertificateName.Role;

import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.X509TrustManager;

import java.security.GeneralSecurityException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertPathValidatorException.BasicReason;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The certificate of this process, and the authorities of its peers, as they were in their files at one time. A
 * connection uses the same credentials from its beginning to its end.
 */
public final class TlsCredentials
{
    private static final int MAX_SUBJECT_LENGTH = 128;
    // any name for a key exchange that permits signatures: TLS 1.3 has no other
    private static final String AUTHENTICATION_TYPE = "UNKNOWN";

    private final X509Certificate certificate;
    private final CertificateName name;
    private final Optional<X509TrustManager> authorities;
    private final SSLContext server;
    private final SSLContext client;

    /**
     * @param certificate the own certificate
     * @param name the name in the own certificate
     * @param keys present the own certificate
     * @param authorities check chains of certificates; empty to check no peers
     */
    TlsCredentials(X509Certificate certificate, CertificateName name, KeyManager[] keys, Optional<X509TrustManager> authorities)
            throws GeneralSecurityException
    {
        this.certificate = requireNonNull(certificate, "certificate is null");
        this.name = requireNonNull(name, "name is null");
        this.authorities = requireNonNull(authorities, "authorities is null");
        // the server checks its clients later, in clientProblem, so that it can send them the reason
        this.server = TlsContexts.context(keys, new PeerTrust(_ -> {}));
        this.client = TlsContexts.context(keys, new PeerTrust(chain -> check(chain, Role.WORKER)));
    }

    /**
     * Returns the context of servers. It accepts every client; {@link #clientProblem} checks the certificate.
     */
    public SSLContext serverContext()
    {
        return server;
    }

    /**
     * Returns the context of clients, which checks the certificate of the server.
     */
    public SSLContext clientContext()
    {
        return client;
    }

    /**
     * Returns whether peers need a certificate of a trusted authority.
     */
    public boolean requiresPeerCertificates()
    {
        return authorities.isPresent();
    }

    /**
     * Returns why the client of a connection is refused, in one sentence with the fix.
     *
     * @param session of a server that required a certificate of its client
     * @return empty if the client is accepted
     */
    public Optional<String> clientProblem(SSLSession session)
    {
        if (authorities.isEmpty()) {
            return Optional.empty();
        }
        try {
            check(chain(session), Role.CLIENT);
            return Optional.empty();
        }
        catch (PeerCertificateException e) {
            return Optional.of(e.getMessage());
        }
    }

    /**
     * Returns the cache worker id in the certificate of the server of a connection.
     *
     * @return empty if certificates are not checked, or if the certificate is for any cache worker of the cluster
     */
    public Optional<CacheWorkerId> certifiedWorker(SSLSession session)
            throws PeerCertificateException
    {
        if (authorities.isEmpty()) {
            return Optional.empty();
        }
        return CertificateName.of(chain(session)[0]).flatMap(CertificateName::worker);
    }

    private static X509Certificate[] chain(SSLSession session)
            throws PeerCertificateException
    {
        try {
            // JSSE has X.509 certificates only
            Certificate[] chain = session.getPeerCertificates();
            return Arrays.copyOf(chain, chain.length, X509Certificate[].class);
        }
        catch (SSLPeerUnverifiedException _) {
            throw new PeerCertificateException("the peer has no certificate: configure its keystore");
        }
    }

    private void check(X509Certificate[] chain, Role role)
            throws PeerCertificateException
    {
        if (authorities.isEmpty()) {
            return;
        }
        String peer = role == Role.WORKER ? "cache worker" : "client";
        String subject = subject(chain[0]);
        Optional<String> invalid = validity(chain[0], Instant.now());
        if (invalid.isPresent()) {
            throw new PeerCertificateException("the certificate %s of the %s %s".formatted(subject, peer, invalid.get()));
        }
        checkChain(chain, role, peer, subject);
        CertificateName peerName = CertificateName.of(chain[0])
                .orElseThrow(() -> new PeerCertificateException(
                        "the certificate %s of the %s does not have exactly one name that begins with cachedhive: issue it with the subject alternative name URI:%s"
                                .formatted(subject, peer, expectedName(role))));
        if (!peerName.role().permits(role)) {
            throw new PeerCertificateException(
                    "the certificate %s of the %s has the name %s, which is not the name of a %s: issue it with the subject alternative name URI:%s"
                    .formatted(subject, peer, peerName, peer, expectedName(role)));
        }
        if (!peerName.cluster().equals(name.cluster())) {
            throw new PeerCertificateException("the certificate %s of the %s is for the cluster %s, and the one of this process for the cluster %s: use certificates of one cluster"
                    .formatted(subject, peer, peerName.cluster(), name.cluster()));
        }
    }

    private String expectedName(Role role)
    {
        return "cachedhive://%s/%s".formatted(name.cluster(), role == Role.WORKER ? "worker/ID" : "client");
    }

    private void checkChain(X509Certificate[] chain, Role role, String peer, String subject)
            throws PeerCertificateException
    {
        try {
            if (role == Role.WORKER) {
                authorities.orElseThrow().checkServerTrusted(chain, AUTHENTICATION_TYPE);
            }
            else {
                authorities.orElseThrow().checkClientTrusted(chain, AUTHENTICATION_TYPE);
            }
        }
        catch (CertificateException e) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof CertificateExpiredException) {
                    throw new PeerCertificateException("an authority of the certificate %s of the %s has expired: renew the authority and the certificate"
                            .formatted(subject, peer));
                }
                if (cause instanceof CertificateNotYetValidException) {
                    throw new PeerCertificateException("an authority of the certificate %s of the %s is not valid yet: check the clocks of both hosts"
                            .formatted(subject, peer));
                }
                // the latter: of an authority with the same name and another key
                if (cause instanceof CertPathBuilderException || (cause instanceof CertPathValidatorException path && path.getReason() == BasicReason.INVALID_SIGNATURE)) {
                    throw new PeerCertificateException(
                            "the certificate %s of the %s is not signed by an authority in the truststore: add its authority, or issue a certificate of a trusted one"
                                    .formatted(subject, peer));
                }
            }
            throw new PeerCertificateException("the certificate %s of the %s cannot be used (%s): issue another one".formatted(subject, peer, e.getMessage()));
        }
    }

    /**
     * Returns why a certificate is not valid at a time, as the end of a sentence.
     */
    private static Optional<String> validity(X509Certificate certificate, Instant now)
    {
        if (now.isAfter(certificate.getNotAfter().toInstant())) {
            return Optional.of("expired at %s: issue a new one".formatted(certificate.getNotAfter().toInstant()));
        }
        if (now.isBefore(certificate.getNotBefore().toInstant())) {
            return Optional.of("is not valid before %s: check the clocks of both hosts, or issue a new one".formatted(certificate.getNotBefore().toInstant()));
        }
        return Optional.empty();
    }

    // from a peer that is not authenticated yet
    private static String subject(X509Certificate certificate)
    {
        String subject = certificate.getSubjectX500Principal().getName().replaceAll("\\p{Cntrl}", "?");
        return "\"%s\"".formatted(subject.substring(0, Math.min(subject.length(), MAX_SUBJECT_LENGTH)));
    }

    /**
     * Returns why the own certificate is not valid at a time, as the end of a sentence.
     */
    Optional<String> ownProblem(Instant now)
    {
        return validity(certificate, now);
    }

    /**
     * Returns why the own certificate does not fit to the id of this cache worker, in one sentence with the fix.
     */
    public Optional<String> workerProblem(CacheWorkerId self)
    {
        return name.worker()
                .filter(worker -> !worker.equals(self))
                .map(worker -> "the certificate %s is for the cache worker %s, and this is %s: issue it with the subject alternative name URI:cachedhive://%s/worker/%s"
                        .formatted(subject(certificate), worker, self, name.cluster(), self));
    }

    /**
     * Returns when the own certificate expires.
     */
    Instant expiry()
    {
        return certificate.getNotAfter().toInstant();
    }

    String subject()
    {
        return subject(certificate);
    }
}
