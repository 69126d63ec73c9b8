package io.cachedhive.engine;

import io.trino.server.Server;

/**
 * Trino's server and nothing else. Trino's own main class is not on Maven Central, and a plugin has to be shown in a server that was not extended, too.
 */
public final class PlainTrinoServer
{
    /** The version of the libraries beside it: the version is given to a Trino server by its main class. */
    static final String TRINO_VERSION = "483";

    private PlainTrinoServer() {}

    public static void main(String[] args)
    {
        new Server().start(TRINO_VERSION);
    }
}
