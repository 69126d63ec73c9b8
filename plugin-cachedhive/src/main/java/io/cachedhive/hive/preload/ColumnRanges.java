package io.cachedhive.hive.preload;

import io.cachedhive.plugin.preload.ByteRange;
import io.cachedhive.plugin.preload.OwnedBytes;
import io.cachedhive.plugin.preload.PreloadFile;

import java.io.IOException;
import java.util.List;

/**
 * Finds what Trino's readers read of a file when a query asks for some of its columns: whatever else the query does, and however the file is cut into splits.
 *
 * <p>Readers join ranges that are near to one another as long as the whole is not too long, and which those are depends on where a split begins and on what a
 * predicate leaves out. So here all ranges are joined that are near enough: what lies between them is shorter than a block, unless blocks are small.
 */
final class ColumnRanges
{
    private ColumnRanges() {}

    /**
     * @param bytes of the file
     * @throws IOException if its footers cannot be read
     */
    static List<ByteRange> find(PreloadFile file, OwnedBytes bytes, ColumnReaders readers)
            throws IOException
    {
        return switch (file.format()) {
            case PARQUET -> ParquetRanges.find(file, bytes, readers);
            case ORC -> OrcRanges.find(file, bytes, readers);
            case BY_ROW -> ByteRange.join(file.splits(), 0);
        };
    }

    /**
     * Whether readers read all of the file, whichever columns are wanted: then nobody has to look at its footers.
     */
    static boolean isReadWhole(PreloadFile file, ColumnReaders readers)
    {
        long length = file.version().length();
        return switch (file.format()) {
            case PARQUET -> length <= readers.parquetOptions().getSmallFileThreshold().toBytes();
            case ORC -> length <= readers.orcOptions().getTinyStripeThreshold().toBytes();
            case BY_ROW -> true;
        };
    }
}
