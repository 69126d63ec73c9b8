package io.trino.server;

/**
 * The main class that Trino's tarball has and Maven Central has not: it gives the server its version. Under its own name, so that a Trino home of the
 * container hosts is one as Trino ships it.
 */
public final class TrinoServer
{
    private static final String VERSION = "483";

    private TrinoServer() {}

    public static void main(String[] args)
    {
        new Server().start(VERSION);
    }
}
