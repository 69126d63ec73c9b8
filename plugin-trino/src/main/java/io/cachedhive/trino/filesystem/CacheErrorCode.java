package io.cachedhive.trino.filesystem;

import io.trino.spi.ErrorCode;
import io.trino.spi.ErrorCodeSupplier;
import io.trino.spi.ErrorType;

import static io.trino.spi.ErrorType.EXTERNAL;

/**
 * Errors of the cache that end a query; Trino shows their names.
 */
public enum CacheErrorCode
        implements ErrorCodeSupplier
{
    /** An object was replaced while the query read it, so that no state of the file can be delivered. Run the query again. */
    CACHE_FILE_REPLACED(0, EXTERNAL);

    // the first number of a range that no plugin of Trino uses
    private static final int FIRST_CODE = 0x0CAC_0000;

    private final int code;
    private final ErrorType type;

    CacheErrorCode(int code, ErrorType type)
    {
        this.code = FIRST_CODE + code;
        this.type = type;
    }

    @Override
    public ErrorCode toErrorCode()
    {
        return new ErrorCode(code, name(), type);
    }
}
