package io.cachedhive.trino.filesystem;

import io.trino.spi.ErrorCode;
import io.trino.spi.ErrorCodeSupplier;
import io.trino.spi.ErrorType;

import static io.trino.spi.ErrorType.EXTERNAL;

/**
 * Why a query failed, where the connector could not have known.
 */
public enum CacheErrorCode
        implements ErrorCodeSupplier
{
    CACHE_FILE_REPLACED(0, EXTERNAL);

    private final ErrorCode errorCode;

    CacheErrorCode(int code, ErrorType type)
    {
        // a range that no plugin of Trino has
        errorCode = new ErrorCode(code + 0x0CAC_0000, name(), type);
    }

    @Override
    public ErrorCode toErrorCode()
    {
        return errorCode;
    }
}
