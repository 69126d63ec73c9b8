package io.cachedhive.admin.host;

import java.net.URI;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * A host with a cache worker, as the operator names it.
 *
 * @param name host name or IP address; a version 6 address without its brackets
 * @param port of the worker's HTTP API
 * @param https whether the API is reached by HTTPS
 */
public record WorkerHost(String name, int port, boolean https)
{
    /// The default of a cache worker's `http-server.http.port`.
    public static final int DEFAULT_PORT = 8485;

    private static final String HTTPS = "https://";

    public WorkerHost
    {
        requireNonNull(name, "name is null");
        if (port < 1 || port > 65535) {
            throw new IllegalArgumentException("port is not between 1 and 65535: " + port);
        }
    }

    /// Reads `name`, `name:port`, `[address]` or `[address]:port`, behind `https://` if the API is reached by HTTPS.
    public static WorkerHost parse(String text)
    {
        String stripped = text.strip();
        boolean https = stripped.startsWith(HTTPS);
        if (https) {
            stripped = stripped.substring(HTTPS.length());
        }
        int nameEnd;
        String name;
        if (stripped.startsWith("[")) {
            int bracket = stripped.indexOf(']');
            if (bracket < 0) {
                throw new IllegalArgumentException("host has no closing bracket: " + text);
            }
            nameEnd = bracket + 1;
            name = stripped.substring(1, bracket);
        }
        else {
            int colon = stripped.indexOf(':');
            nameEnd = colon < 0 ? stripped.length() : colon;
            name = stripped.substring(0, nameEnd);
        }
        String rest = stripped.substring(nameEnd);
        if (name.isEmpty() || !(rest.isEmpty() || rest.startsWith(":"))) {
            throw new IllegalArgumentException("host is not written as host or host:port: " + text);
        }
        WorkerHost host = new WorkerHost(name, rest.isEmpty() ? DEFAULT_PORT : parsePort(rest.substring(1), text), https);
        // refuses what no host is called, before anything is asked
        if (host.toUri("/").isEmpty()) {
            throw new IllegalArgumentException("host is neither a name nor an IP address (a version 6 address stands in brackets): " + text);
        }
        return host;
    }

    private static int parsePort(String port, String text)
    {
        try {
            return Integer.parseInt(port);
        }
        catch (NumberFormatException _) {
            throw new IllegalArgumentException("port is not a number: " + text);
        }
    }

    /// Whether the name can stand in a URL: names of ssh can be others, such as those with an underscore.
    public boolean hasAddress()
    {
        return toUri("/").isPresent();
    }

    /// @return empty if the name can be no host
    Optional<URI> toUri(String path)
    {
        try {
            URI uri = URI.create((https ? "https://" : "http://") + this + path);
            // of "a/b" the host would be "a"
            return bracketed().equals(uri.getHost()) ? Optional.of(uri) : Optional.empty();
        }
        catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    private String bracketed()
    {
        return name.contains(":") ? "[" + name + "]" : name;
    }

    @Override
    public String toString()
    {
        return bracketed() + ":" + port;
    }
}
