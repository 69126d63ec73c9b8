package io.cachedhive.store;

import io.cachedhive.store.encryption.KeySource;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The random operations of {@link TestBlockStoreModel}, in encrypted directories.
 */
class TestEncryptedBlockStoreModel
        extends TestBlockStoreModel
{
    @TempDir
    private Path keys;

    private Optional<KeySource> key = Optional.empty();

    @Override
    Optional<KeySource> encryptionKey()
    {
        if (key.isEmpty()) {
            try {
                key = Optional.of(TestingKeys.create(keys.resolve("key")));
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return key;
    }
}
