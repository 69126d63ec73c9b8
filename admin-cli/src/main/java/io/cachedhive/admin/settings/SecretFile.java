package io.cachedhive.admin.settings;

import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.protocol.security.SharedSecret;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * The file on this machine with the shared secrets of a cluster, in the format of the files of cache workers: one secret
 * per line, the preferred one first. Only its owner may read it.
 */
public final class SecretFile
{
    private static final int SECRET_BYTES = 48;
    private static final int MAX_SECRETS = 2;
    private static final String NEW = "# The next line is the new secret, which becomes the first one as soon as all hosts have it (cache-admin secret rotate).";
    private static final String FORMER = "# The next line is the former secret, which is removed as soon as no connection uses it (cache-admin secret rotate).";
    private static final Set<PosixFilePermission> OF_OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE);

    private SecretFile() {}

    /**
     * Whether the second secret of a file is on its way in or out.
     */
    public enum Second
    {
        NEW,
        FORMER
    }

    /**
     * The secrets of a file.
     *
     * @param preferred the first secret
     * @param other the second secret, which is also valid
     * @param second what the second secret is; empty if there is none, or if another program than {@code cache-admin} wrote the file
     */
    public record Content(String preferred, Optional<String> other, Optional<Second> second)
    {
        public Content
        {
            requireNonNull(preferred, "preferred is null");
            requireNonNull(other, "other is null");
            requireNonNull(second, "second is null");
        }

        static Content of(String secret)
        {
            return new Content(secret, Optional.empty(), Optional.empty());
        }

        /// The preferred one first.
        public List<String> secrets()
        {
            return other.map(secret -> List.of(preferred, secret)).orElseGet(() -> List.of(preferred));
        }

        /// The text of the file on a host: without comments.
        public String hostText()
        {
            return String.join("\n", secrets()) + "\n";
        }

        /// The first step of a rotation.
        public Content withNew(String secret)
        {
            return new Content(preferred, Optional.of(secret), Optional.of(Second.NEW));
        }

        /// The second step: the new secret is preferred.
        public Content swapped()
        {
            return new Content(other.orElseThrow(), Optional.of(preferred), Optional.of(Second.FORMER));
        }

        /// The last step.
        public Content withoutFormer()
        {
            return of(preferred);
        }

        private String text()
        {
            String marker = second.map(value -> (value == Second.NEW ? NEW : FORMER) + "\n").orElse("");
            return preferred + "\n" + other.map(secret -> marker + secret + "\n").orElse("");
        }
    }

    /// @return 48 random bytes in Base64
    public static String generate()
    {
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        return Base64.getEncoder().encodeToString(secret);
    }

    /// Writes a new secret of 48 random bytes in Base64, with the mode 0600.
    ///
    /// @throws IOException if the file exists or cannot be written
    static void create(Path file)
            throws IOException
    {
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            Files.writeString(file, generate() + "\n");
        }
        catch (IOException e) {
            // half a secret would be refused by the next command
            Files.deleteIfExists(file);
            throw e;
        }
    }

    /// Replaces the file at once, so that a power failure leaves the old content or the new one.
    ///
    /// @throws ClusterFileException if it cannot be written
    public static void write(Path file, Content content)
            throws ClusterFileException
    {
        try {
            // behind a link the file itself
            Path target = file.toRealPath();
            // only for its owner
            Path part = Files.createTempFile(target.getParent(), target.getFileName() + ".", ".part");
            try {
                try (FileChannel channel = FileChannel.open(part, StandardOpenOption.WRITE)) {
                    ByteBuffer bytes = ByteBuffer.wrap(content.text().getBytes(UTF_8));
                    while (bytes.hasRemaining()) {
                        channel.write(bytes);
                    }
                    channel.force(true);
                }
                Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            }
            finally {
                Files.deleteIfExists(part);
            }
            try (FileChannel directory = FileChannel.open(target.getParent(), StandardOpenOption.READ)) {
                directory.force(true);
            }
        }
        catch (IOException e) {
            throw new ClusterFileException("The secret file %s cannot be written (%s): let its owner run this, or free disk space.".formatted(file, e));
        }
    }

    /// Reads the secrets, which are accepted by the same rules as on cache workers.
    ///
    /// @throws ClusterFileException if the file cannot be read, other users may read or write it, or a secret is refused
    public static Content read(Path file)
            throws ClusterFileException
    {
        List<String> secrets = new ArrayList<>();
        Optional<Second> second = Optional.empty();
        try {
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
            if (permissions.stream().anyMatch(OF_OTHERS::contains)) {
                throw new ClusterFileException("The secret file %s can be read or written by other users (%s): run chmod 600 %s."
                        .formatted(file, PosixFilePermissions.toString(permissions), file));
            }
            for (String line : Files.readAllLines(file)) {
                if (line.equals(NEW)) {
                    second = Optional.of(Second.NEW);
                }
                else if (line.equals(FORMER)) {
                    second = Optional.of(Second.FORMER);
                }
                else if (!line.isBlank() && !line.startsWith("#")) {
                    secrets.add(line.strip());
                }
            }
        }
        catch (IOException e) {
            throw new ClusterFileException("The secret file %s cannot be read (%s): name a file that you may read, with the secret in it."
                    .formatted(file, e.getClass().getSimpleName()));
        }
        if (secrets.isEmpty()) {
            throw new ClusterFileException("The secret file %s is empty: copy it again from the machine that ran cache-admin install.".formatted(file));
        }
        if (secrets.size() > MAX_SECRETS) {
            throw new ClusterFileException("The secret file %s has %s secrets, at most %s are allowed: copy it again from the machine that ran cache-admin install."
                    .formatted(file, secrets.size(), MAX_SECRETS));
        }
        for (String secret : secrets) {
            Optional<String> problem = SharedSecret.problem(secret);
            if (problem.isPresent()) {
                throw new ClusterFileException("The secret in %s %s".formatted(file, problem.get()));
            }
        }
        if (secrets.size() == 1) {
            return Content.of(secrets.getFirst());
        }
        return new Content(secrets.getFirst(), Optional.of(secrets.get(1)), second);
    }
}
