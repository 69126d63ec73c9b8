package io.cachedhive.store.block;

import io.cachedhive.store.disk.DiskException;

import java.io.IOException;

/**
 * Why a call to a disk did not do what it should.
 */
public enum SsdErrorCause
{
    /**
     * The file system, or somebody's quota, is full.
     */
    NO_SPACE,
    /**
     * The file system cannot be written to.
     */
    READ_ONLY,
    /**
     * The device failed.
     */
    IO_ERROR,
    /**
     * It took so long that the object store would have been faster.
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
