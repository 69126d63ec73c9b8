package io.cachedhive.quickstart.sql;

import java.io.IOException;

/**
 * Writes a result in one format.
 */
public interface ResultPrinter
        extends RowHandler
{
    /// Writes what is still held back; the last call.
    void finish()
            throws IOException;
}
