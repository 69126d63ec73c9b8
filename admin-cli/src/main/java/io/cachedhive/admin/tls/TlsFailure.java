package io.cachedhive.admin.tls;

import javax.net.ssl.SSLException;

import java.security.cert.CertPathBuilderException;

/**
 * Describes why a server cannot be reached by TLS.
 */
public final class TlsFailure
{
    private TlsFailure() {}

    /// The reason, in words for the middle of a sentence.
    public static String describe(SSLException failure)
    {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertPathBuilderException) {
                return "no authority of the truststore signed its certificate";
            }
        }
        return failure.getMessage();
    }
}
