package io.cachedhive.store.disk;

import java.io.IOException;

import static java.util.Objects.requireNonNull;

/**
 * A failed call to the operating system. The message names the file and the system's reason.
 */
public class DiskException
        extends IOException
{
    private final Cause reason;

    public DiskException(Cause reason, String message)
    {
        super(message);
        this.reason = requireNonNull(reason, "reason is null");
    }

    public Cause reason()
    {
        return reason;
    }

    public enum Cause
    {
        NOT_FOUND,
        EXISTS,
        NOT_PERMITTED,
        NO_SPACE,
        READ_ONLY,
        IO_ERROR,
        /**
         * The file or the file system does not support the operation.
         */
        NOT_SUPPORTED,
        OTHER,
    }
}
