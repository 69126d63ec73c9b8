package io.cachedhive.worker.server;

public enum Transport
{
    /**
     * From this host, by a user that the socket file's permissions admit: no secret is asked for.
     */
    UNIX,
    TCP,
}
