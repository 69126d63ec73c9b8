package io.cachedhive.transport.tls;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;

import static java.util.Objects.requireNonNull;

/**
 * Checks the chain of a peer with one function. Names of hosts are not checked, and no authorities are named to the
 * peer: it presents the certificate that it has, so that the reason for a refusal can be reported.
 */
final class PeerTrust
        extends X509ExtendedTrustManager
{
    private final Check check;

    interface Check
    {
        void check(X509Certificate[] chain)
                throws CertificateException;
    }

    PeerTrust(Check check)
    {
        this.check = requireNonNull(check, "check is null");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException
    {
        check.check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException
    {
        check.check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType)
            throws CertificateException
    {
        check.check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException
    {
        check.check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException
    {
        check.check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType)
            throws CertificateException
    {
        check.check(chain);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers()
    {
        return new X509Certificate[0];
    }
}
