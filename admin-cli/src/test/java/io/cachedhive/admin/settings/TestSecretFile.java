package io.cachedhive.admin.settings;

import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.settings.SecretFile.Content;
import io.cachedhive.admin.settings.SecretFile.Second;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.Optional;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestSecretFile
{
    @TempDir
    private Path directory;

    @Test
    void testCreate()
            throws IOException, ClusterFileException
    {
        Path file = directory.resolve("secret");
        SecretFile.create(file);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
        String secret = SecretFile.read(file).preferred();
        assertThat(Base64.getDecoder().decode(secret)).hasSize(48);
        assertThat(file).hasContent(secret + "\n");
        assertThatThrownBy(() -> SecretFile.create(file)).isInstanceOf(FileAlreadyExistsException.class);
        assertThat(SecretFile.read(file).secrets()).containsExactly(secret);

        SecretFile.create(directory.resolve("another"));
        assertThat(SecretFile.read(directory.resolve("another")).preferred()).isNotEqualTo(secret);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r-----", "rw----r--", "rw--w----", "rw-----w-"})
    void testFileOfOthers(String permissions)
            throws IOException, ClusterFileException
    {
        Path file = directory.resolve("secret");
        SecretFile.create(file);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));

        assertThatThrownBy(() -> SecretFile.read(file))
                .isInstanceOf(ClusterFileException.class)
                .hasMessage("The secret file %s can be read or written by other users (%s): run chmod 600 %s.".formatted(file, permissions, file));
    }

    @Test
    void testRefusedSecrets()
            throws IOException
    {
        Path file = directory.resolve("secret");
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));

        Files.writeString(file, "abc");
        assertThatThrownBy(() -> SecretFile.read(file)).hasMessageStartingWith("The secret in %s has 3 characters, at least 32 are required: ".formatted(file));
        Files.writeString(file, "changemechangemechangemechangeme\n");
        assertThatThrownBy(() -> SecretFile.read(file)).hasMessageContaining("is a sample from the documentation");
        Files.writeString(file, "9vQ2LrT7xWb4NcYk8HsZp3MdGf6JaEu1\n".repeat(3));
        assertThatThrownBy(() -> SecretFile.read(file)).hasMessageContaining("has 3 secrets, at most 2 are allowed");
        Files.writeString(file, "9vQ2LrT7xWb4NcYk8HsZp3MdGf6JaEu1\nabc\n");
        assertThatThrownBy(() -> SecretFile.read(file)).hasMessageContaining("has 3 characters");
        Files.writeString(file, "# none\n\n");
        assertThatThrownBy(() -> SecretFile.read(file)).hasMessageContaining("is empty");
    }

    @Test
    void testStepsOfRotation()
            throws IOException, ClusterFileException
    {
        Path file = directory.resolve("secret");
        SecretFile.create(file);
        String old = SecretFile.read(file).preferred();
        String fresh = SecretFile.generate();
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);

        Content first = SecretFile.read(file).withNew(fresh);
        SecretFile.write(link, first);
        assertThat(link).isSymbolicLink();
        assertThat(SecretFile.read(file)).isEqualTo(first).isEqualTo(new Content(old, Optional.of(fresh), Optional.of(Second.NEW)));
        assertThat(first.hostText()).isEqualTo(old + "\n" + fresh + "\n");
        Content swapped = first.swapped();
        SecretFile.write(file, swapped);
        assertThat(SecretFile.read(file)).isEqualTo(swapped).isEqualTo(new Content(fresh, Optional.of(old), Optional.of(Second.FORMER)));
        SecretFile.write(file, swapped.withoutFormer());
        assertThat(file).hasContent(fresh + "\n");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files).containsExactlyInAnyOrder(file, link);
        }

        // by hand, or by another program
        Files.writeString(file, old + "\n" + fresh + "\n");
        assertThat(SecretFile.read(file)).isEqualTo(new Content(old, Optional.of(fresh), Optional.empty()));
    }
}
