package io.cachedhive.protocol.ring;

import static java.util.Objects.requireNonNull;

/**
 * The address on which a cache worker's block server listens.
 *
 * @param host a host name or an IP address
 */
public record WorkerAddress(String host, int port)
{
    public WorkerAddress
    {
        requireNonNull(host, "host is null");
        if (host.isBlank()) {
            throw new IllegalArgumentException("host is blank");
        }
        if (port < 1 || port > 65535) {
            throw new IllegalArgumentException("port is not between 1 and 65535: " + port);
        }
    }

    @Override
    public String toString()
    {
        return host + ":" + port;
    }
}
