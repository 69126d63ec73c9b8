package io.cachedhive.worker.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.Set;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * A file with the bearer token that opens the metrics. It is read for each request, so that a new token needs no restart.
 *
 * @param file the file, which other users may neither read nor write
 */
public record MetricsToken(Path file)
{
    private static final Set<PosixFilePermission> FORBIDDEN = Set.of(
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE,
            PosixFilePermission.GROUP_WRITE);

    public MetricsToken
    {
        requireNonNull(file, "file is null");
    }

    /**
     * Returns why the file is refused, and the fix; empty if it can be used.
     */
    public Optional<String> problem()
    {
        try {
            if (Files.getPosixFilePermissions(file).stream().anyMatch(FORBIDDEN::contains)) {
                return Optional.of("cache.metrics.bearer-token-file %s is readable or writable by other users: run chmod o-rwx,g-w %s, and replace the token"
                        .formatted(file, file));
            }
        }
        catch (IOException | UnsupportedOperationException e) {
            return Optional.of("cache.metrics.bearer-token-file %s cannot be read (%s): create it with mode 0640".formatted(file, e));
        }
        return Optional.empty();
    }

    /**
     * Returns whether a token is the present content of the file. A refused file has no token.
     */
    boolean accepts(String token)
    {
        if (problem().isPresent()) {
            return false;
        }
        String expected;
        try {
            expected = Files.readString(file).strip();
        }
        catch (IOException _) {
            // without the file no token is valid, and the monitoring system reports the refusal
            return false;
        }
        return !expected.isEmpty() && MessageDigest.isEqual(expected.getBytes(UTF_8), token.getBytes(UTF_8));
    }
}
