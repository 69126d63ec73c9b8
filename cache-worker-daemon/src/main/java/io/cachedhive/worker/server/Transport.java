package io.cachedhive.worker.server;

public enum Transport
{
    /**
     * A local peer whose user has access to the socket file; it needs no secret.
     */
    UNIX,
    TCP,
}
