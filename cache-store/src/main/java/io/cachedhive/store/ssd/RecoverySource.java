package io.cachedhive.store.ssd;

import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.store.disk.DiskFile;
import io.cachedhive.store.encryption.DataCipher;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The files from which recovery restores the index of a directory.
 *
 * @param format versions to accept
 * @param cipher decrypts the files
 */
record RecoverySource(Path directory, Superblock superblock, SsdFormat format, DiskFile journal, List<DiskFile> checkpoints, Optional<DataCipher> cipher)
{
    RecoverySource
    {
        requireNonNull(directory, "directory is null");
        requireNonNull(superblock, "superblock is null");
        requireNonNull(format, "format is null");
        requireNonNull(journal, "journal is null");
        checkpoints = List.copyOf(checkpoints);
        requireNonNull(cipher, "cipher is null");
    }
}
