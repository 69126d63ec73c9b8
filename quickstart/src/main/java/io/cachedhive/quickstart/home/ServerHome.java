package io.cachedhive.quickstart.home;

import java.net.URI;
import java.nio.file.Path;

/**
 * A directory from which airlift's launcher starts a server, as an operator would install it: {@code bin/}, {@code lib/}, {@code etc/},
 * and {@code var/} for what the server writes.
 */
public sealed interface ServerHome
        permits TrinoHome, CacheWorkerHome
{
    Path path();

    /** {@code node.id} */
    String nodeId();

    /** The address that stands for the host: a loopback address. */
    String address();

    URI httpUri();

    default Path launcher()
    {
        return path().resolve("bin/launcher");
    }
}
