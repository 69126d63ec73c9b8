package io.cachedhive.trino.contents;

import io.cachedhive.protocol.wire.ListingMessage.ListedFile;

/**
 * A number of files and their cached bytes.
 */
final class FileTotals
{
    private long files;
    private long cachedBytes;

    void add(ListedFile file)
    {
        files++;
        cachedBytes += file.cachedBytes();
    }

    long files()
    {
        return files;
    }

    long cachedBytes()
    {
        return cachedBytes;
    }
}
