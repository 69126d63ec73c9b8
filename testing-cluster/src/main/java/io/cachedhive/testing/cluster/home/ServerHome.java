package io.cachedhive.testing.cluster.home;

import javax.management.remote.JMXServiceURL;

import java.net.MalformedURLException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

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

    /** Where {@link #jmxUrl} leads to; empty without remote JMX. */
    OptionalInt jmxPort();

    /** Remote JMX of the server, without authentication, on its loopback address. */
    default Optional<JMXServiceURL> jmxUrl()
    {
        if (jmxPort().isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new JMXServiceURL("service:jmx:rmi:///jndi/rmi://%s:%s/jmxrmi".formatted(address(), jmxPort().getAsInt())));
        }
        catch (MalformedURLException e) {
            throw new IllegalStateException(e);
        }
    }

    default Path launcher()
    {
        return path().resolve("bin/launcher");
    }
}
