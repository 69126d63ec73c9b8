package io.cachedhive.trino.connector;

import io.trino.spi.TrinoException;

import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;

/**
 * The version of Trino whose connectors and interfaces the plugin brings along or uses. They change from one version to the next.
 */
public final class TrinoVersion
{
    private static final String SUPPORTED = "483";

    private TrinoVersion() {}

    /**
     * To be called before anything else: in another version classes may be missing.
     *
     * @throws TrinoException if it is another version
     */
    public static void check(String version)
    {
        if (!version.equals(SUPPORTED)) {
            throw new TrinoException(NOT_SUPPORTED, "This cachedhive plugin works with Trino %s only, and this is Trino %s: install the plugin that was built for it"
                    .formatted(SUPPORTED, version));
        }
    }
}
