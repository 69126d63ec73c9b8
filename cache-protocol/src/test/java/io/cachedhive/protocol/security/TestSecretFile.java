package io.cachedhive.protocol.security;

import io.cachedhive.protocol.security.SecretFile.InvalidSecretException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestSecretFile
{
    private static final String OLD = "old-secret-with-32-characters-abcd";
    private static final String NEW = "new-secret-with-32-characters-abcd";

    @TempDir
    private Path directory;

    private final AtomicLong nanos = new AtomicLong();
    private long modifiedMillis = 1_000_000_000_000L;

    private Path write(String text, String mode)
            throws IOException
    {
        Path file = directory.resolve("secret");
        Files.writeString(file, text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
        // a file system may not distinguish two writes of one moment
        modifiedMillis += 1000;
        Files.setLastModifiedTime(file, FileTime.fromMillis(modifiedMillis));
        return file;
    }

    private void pass(long seconds)
    {
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
    }

    @Test
    void testRotation()
            throws Exception
    {
        Path file = write(OLD + "\n", "rw-r-----");
        SecretFile secrets = SecretFile.open(file, nanos::get);
        assertThat(secrets.valid()).containsExactly(OLD);
        write("# rotated on Monday\n" + NEW + "\n" + OLD + "\n", "rw-------");
        assertThat(secrets.valid()).describedAs("not read at each call").containsExactly(OLD);
        pass(5);
        assertThat(secrets.valid()).containsExactly(NEW, OLD);
        write(NEW, "rw-------");
        pass(5);
        assertThat(secrets.valid()).containsExactly(NEW);
    }

    /// A mistake during a rotation does not lock everyone out.
    @Test
    void testInvalidChange()
            throws Exception
    {
        Path file = write(OLD, "rw-------");
        SecretFile secrets = SecretFile.open(file, nanos::get);
        write("short", "rw-------");
        pass(5);
        assertThat(secrets.valid()).containsExactly(OLD);
        assertThat(secrets.problem()).hasValueSatisfying(problem -> assertThat(problem).contains("has 5 characters, at least 32 are required"));
        Files.delete(file);
        pass(5);
        assertThat(secrets.valid()).containsExactly(OLD);
        assertThat(secrets.problem()).hasValueSatisfying(problem -> assertThat(problem).contains("cannot be read"));
        write(NEW, "rw-------");
        pass(5);
        assertThat(secrets.valid()).containsExactly(NEW);
        assertThat(secrets.problem()).isEmpty();
    }

    @Test
    void testRefusedFiles()
            throws Exception
    {
        assertRefused(write(OLD, "rw-r--r--"), "is readable or writable by other users: run chmod o-rwx,g-w");
        assertRefused(write(OLD, "rw-rw----"), "is readable or writable by other users");
        assertRefused(write("\n# nothing\n", "rw-------"), "is empty: generate one with");
        assertRefused(write(OLD + "\n" + NEW + "\n" + OLD + "x\n", "rw-------"), "has 3 secrets, at most 2 are allowed");
        assertRefused(write("x".repeat(100_000), "rw-------"), "at most 65536 are allowed");
        assertRefused(directory.resolve("missing"), "cannot be read");
        assertRefused(directory, "is not a regular file");
    }

    private static void assertRefused(Path file, String message)
    {
        assertThatThrownBy(() -> SecretFile.open(file)).isInstanceOf(InvalidSecretException.class).hasMessageContaining(message);
    }

    @Test
    void testConfiguration()
            throws Exception
    {
        Path file = write(OLD, "rw-------");
        assertThat(SharedSecret.configured("p", Optional.empty(), Optional.empty()).isEmpty()).isTrue();
        assertThat(SharedSecret.configured("p", Optional.of(NEW), Optional.empty()).valid()).containsExactly(NEW);
        assertThat(SharedSecret.configured("p", Optional.empty(), Optional.of(file)).valid()).containsExactly(OLD);
        assertThatThrownBy(() -> SharedSecret.configured("p", Optional.of(NEW), Optional.of(file)))
                .isInstanceOf(InvalidSecretException.class)
                .hasMessage("p and p-file are both set: remove one of them");
        assertThatThrownBy(() -> SharedSecret.configured("p", Optional.of("abc"), Optional.empty()))
                .isInstanceOf(InvalidSecretException.class)
                .hasMessageStartingWith("p has 3 characters, at least 32 are required");
    }
}
