package io.cachedhive.testing.cluster.sql;

import java.io.IOException;
import java.util.List;

/**
 * Takes a result as it arrives.
 */
public interface RowHandler
{
    /// Called once, before the first row; never for a statement without a result set.
    void columns(List<ResultColumn> columns)
            throws IOException;

    /// A row; the list may hold nulls and is the callee's to keep.
    void row(List<Object> values)
            throws IOException;
}
