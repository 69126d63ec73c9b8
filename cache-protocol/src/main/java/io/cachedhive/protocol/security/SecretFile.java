package io.cachedhive.protocol.security;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * Reads the shared secret from a file, and reads it again when the file changes. The file has one secret per line: the
 * first line is the preferred secret, and a second line is a secret that is also accepted during a rotation. Blank lines
 * and lines that begin with {@code #} are ignored.
 *
 * <p>A file that becomes invalid does not end the process: the last valid secrets stay in use, and {@link #problem}
 * reports the reason.
 */
public final class SecretFile
        implements Secrets
{
    /**
     * The age of the secrets in use at most, compared with the file.
     */
    public static final Duration MAX_AGE = Duration.ofSeconds(5);

    private static final long MAX_BYTES = 64 << 10;

    private final Path file;
    private final LongSupplier nanoTime;
    private State state;
    private long checkedNanos;
    private Optional<String> problem = Optional.empty();

    private record State(FileTime modified, long size, Object key, List<String> secrets) {}

    /**
     * Thrown if the file cannot be used. The message is a sentence that names the file and the fix.
     */
    public static final class InvalidSecretException
            extends Exception
    {
        public InvalidSecretException(String message)
        {
            super(message);
        }
    }

    private SecretFile(Path file, LongSupplier nanoTime)
            throws InvalidSecretException
    {
        this.file = requireNonNull(file, "file is null");
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
        state = read();
        checkedNanos = nanoTime.getAsLong();
    }

    /**
     * Reads the file.
     *
     * @throws InvalidSecretException if the file cannot be read, others may read or write it, or a secret breaks the rules
     */
    public static SecretFile open(Path file)
            throws InvalidSecretException
    {
        return open(file, System::nanoTime);
    }

    static SecretFile open(Path file, LongSupplier nanoTime)
            throws InvalidSecretException
    {
        return new SecretFile(file, nanoTime);
    }

    /**
     * Returns the secrets of the file as it was at most five seconds ago.
     */
    @Override
    public synchronized List<String> valid()
    {
        long now = nanoTime.getAsLong();
        if (now - checkedNanos >= MAX_AGE.toNanos()) {
            checkedNanos = now;
            refresh();
        }
        return state.secrets();
    }

    private void refresh()
    {
        try {
            if (problem.isPresent() || !isUnchanged()) {
                state = read();
            }
            problem = Optional.empty();
        }
        catch (InvalidSecretException e) {
            problem = Optional.of(e.getMessage());
        }
        catch (IOException e) {
            problem = Optional.of("shared-secret file %s cannot be read: %s".formatted(file, e));
        }
    }

    private boolean isUnchanged()
            throws IOException
    {
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        return attributes.lastModifiedTime().equals(state.modified()) && attributes.size() == state.size() && attributes.fileKey().equals(state.key());
    }

    private State read()
            throws InvalidSecretException
    {
        try {
            PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
            if (!attributes.isRegularFile()) {
                throw new InvalidSecretException("shared-secret file %s is not a regular file".formatted(file));
            }
            Set<PosixFilePermission> forbidden = new HashSet<>(attributes.permissions());
            forbidden.retainAll(Set.of(
                    PosixFilePermission.OTHERS_READ,
                    PosixFilePermission.OTHERS_WRITE,
                    PosixFilePermission.GROUP_WRITE));
            if (!forbidden.isEmpty()) {
                throw new InvalidSecretException("shared-secret file %s is readable or writable by other users: run chmod o-rwx,g-w %s".formatted(file, file));
            }
            if (attributes.size() > MAX_BYTES) {
                throw new InvalidSecretException("shared-secret file %s has %s bytes, at most %s are allowed".formatted(file, attributes.size(), MAX_BYTES));
            }
            List<String> secrets = new ArrayList<>();
            for (String line : Files.readAllLines(file)) {
                if (!line.isBlank() && !line.startsWith("#")) {
                    secrets.add(line.strip());
                }
            }
            check(secrets);
            return new State(attributes.lastModifiedTime(), attributes.size(), attributes.fileKey(), List.copyOf(secrets));
        }
        catch (IOException | UnsupportedOperationException e) {
            throw new InvalidSecretException("shared-secret file %s cannot be read (%s): create it with mode 0640".formatted(file, e));
        }
    }

    private void check(List<String> secrets)
            throws InvalidSecretException
    {
        if (secrets.isEmpty()) {
            throw new InvalidSecretException("shared-secret file %s is empty: %s".formatted(file, SharedSecret.REMEDY));
        }
        if (secrets.size() > MAX_VALID) {
            throw new InvalidSecretException("shared-secret file %s has %s secrets, at most %s are allowed".formatted(file, secrets.size(), MAX_VALID));
        }
        for (String secret : secrets) {
            Optional<String> refusal = SharedSecret.problem(secret);
            if (refusal.isPresent()) {
                throw new InvalidSecretException("a secret in the shared-secret file %s %s".formatted(file, refusal.get()));
            }
        }
    }

    @Override
    public synchronized Optional<String> problem()
    {
        return problem;
    }
}
