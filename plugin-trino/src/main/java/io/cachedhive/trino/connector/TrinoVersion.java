package io.cachedhive.trino.connector;

import io.airlift.log.Logger;
import io.trino.spi.TrinoException;

import java.util.regex.Pattern;

import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;

/**
 * The version of Trino whose connectors and interfaces the plugin brings along or uses. They change from one version to the next.
 */
public final class TrinoVersion
{
    private static final Logger log = Logger.get(TrinoVersion.class);

    private static final String SUPPORTED = "483";
    // what companies call their own builds: 483-corp.2, 483.1
    private static final Pattern BUILD_OF_SUPPORTED = Pattern.compile(SUPPORTED + "[-.+].+");

    private TrinoVersion() {}

    /**
     * To be called before anything else: in another version classes may be missing. A company's own build of the supported version is accepted with a warning
     * in the log.
     *
     * @throws TrinoException if it is another version
     */
    public static void check(String version)
    {
        if (BUILD_OF_SUPPORTED.matcher(version).matches()) {
            log.warn("This is Trino %s, a company's own build. The cachedhive plugin was tested with Trino %s only", version, SUPPORTED);
            return;
        }
        if (!version.equals(SUPPORTED)) {
            throw new TrinoException(NOT_SUPPORTED, "This cachedhive plugin works with Trino %s only, and this is Trino %s: install the plugin that was built for it"
                    .formatted(SUPPORTED, version));
        }
    }
}
