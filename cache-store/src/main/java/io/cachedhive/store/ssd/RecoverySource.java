package io.cachedhive.store.ssd;

import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.store.disk.DiskFile;

import java.nio.file.Path;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * The files from which recovery restores the index of a directory.
 *
 * @param format versions to accept
 */
record RecoverySource(Path directory, Superblock superblock, SsdFormat format, DiskFile journal, List<DiskFile> checkpoints)
{
    RecoverySource
    {
        requireNonNull(directory, "directory is null");
        requireNonNull(superblock, "superblock is null");
        requireNonNull(format, "format is null");
        requireNonNull(journal, "journal is null");
        checkpoints = List.copyOf(checkpoints);
    }
}
