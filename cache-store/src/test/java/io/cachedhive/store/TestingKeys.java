package io.cachedhive.store;

import io.cachedhive.store.encryption.KeySource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Base64;

/**
 * Keys of an operator.
 */
final class TestingKeys
{
    private TestingKeys() {}

    /**
     * Writes a new random key to a file that only its owner may read.
     */
    static KeySource create(Path file)
            throws IOException
    {
        byte[] key = new byte[32];
        new SecureRandom().nextBytes(key);
        Files.deleteIfExists(file);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, Base64.getEncoder().encodeToString(key) + "\n");
        return new KeySource.OfFile(file);
    }
}
