package io.cachedhive.store.block;

import io.cachedhive.store.disk.DiskException;

import java.io.IOException;

/**
 * The cause of a failed or slow disk call.
 */
public enum SsdErrorCause
{
    /**
     * The file system or a quota is full.
     */
    NO_SPACE,
    /**
     * The file system is read-only.
     */
    READ_ONLY,
    /**
     * The device failed.
     */
    IO_ERROR,
    /**
     * The call took longer than a read from the object store.
     */
    SLOW,
    OTHER;

    public static SsdErrorCause of(IOException failure)
    {
        if (!(failure instanceof DiskException disk)) {
            return OTHER;
        }
        return switch (disk.reason()) {
            case NO_SPACE -> NO_SPACE;
            case READ_ONLY -> READ_ONLY;
            case IO_ERROR -> IO_ERROR;
            case NOT_FOUND, EXISTS, NOT_PERMITTED, NOT_SUPPORTED, OTHER -> OTHER;
        };
    }
}
