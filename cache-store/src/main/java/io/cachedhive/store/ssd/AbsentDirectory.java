package io.cachedhive.store.ssd;

import io.cachedhive.store.block.SsdDirectoryConfig;

import java.nio.file.Path;

import static java.util.Objects.requireNonNull;

/**
 * A configured directory that was missing or unusable when the store was opened.
 *
 * @param number position among the configured directories
 */
record AbsentDirectory(int number, SsdDirectoryConfig config, DirectoryOutException reason)
{
    AbsentDirectory
    {
        requireNonNull(config, "config is null");
        requireNonNull(reason, "reason is null");
    }

    Path path()
    {
        return config.directory();
    }
}
