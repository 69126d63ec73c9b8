package io.cachedhive.transport.tls;

import java.security.cert.CertificateException;
import java.util.Optional;

/**
 * Thrown if the certificate of a peer is refused. The message is one sentence with the reason and the fix.
 */
public final class PeerCertificateException
        extends CertificateException
{
    PeerCertificateException(String message)
    {
        super(message);
    }

    /**
     * Finds the reason in an exception of a TLS handshake.
     *
     * @return empty if the handshake failed for another reason
     */
    public static Optional<PeerCertificateException> cause(Throwable failure)
    {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof PeerCertificateException refusal) {
                return Optional.of(refusal);
            }
        }
        return Optional.empty();
    }
}
