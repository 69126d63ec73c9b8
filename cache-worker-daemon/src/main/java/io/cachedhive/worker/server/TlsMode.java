package io.cachedhive.worker.server;

/**
 * Whether peers on TCP must use TLS ({@code cache.worker.tls}).
 */
public enum TlsMode
{
    REQUIRED,
    /**
     * Accepts peers without TLS that prove the secret, for the time of one rolling upgrade. They are counted.
     */
    ALLOWED,
}
