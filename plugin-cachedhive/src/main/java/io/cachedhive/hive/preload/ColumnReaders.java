package io.cachedhive.hive.preload;

import io.cachedhive.plugin.preload.ByteRange;
import io.cachedhive.plugin.preload.OwnedBytes;
import io.cachedhive.plugin.preload.PreloadFile;
import io.cachedhive.plugin.preload.WantedColumns;
import io.trino.orc.OrcReaderOptions;
import io.trino.parquet.ParquetReaderOptions;
import io.trino.parquet.crypto.FileDecryptionProperties;
import io.trino.plugin.hive.HiveColumnHandle;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Which columns are read, and how Trino's readers are set up to read them in a session.
 *
 * @param columns that have bytes in files
 * @param parquetByName whether columns of Parquet files are found by name; else by their place
 * @param orcByName the same of ORC files
 */
record ColumnReaders(
        List<HiveColumnHandle> columns,
        ParquetReaderOptions parquetOptions,
        Optional<FileDecryptionProperties> parquetDecryption,
        boolean parquetByName,
        OrcReaderOptions orcOptions,
        boolean orcByName)
        implements WantedColumns
{
    ColumnReaders
    {
        columns = List.copyOf(columns);
        requireNonNull(parquetOptions, "parquetOptions is null");
        requireNonNull(parquetDecryption, "parquetDecryption is null");
        requireNonNull(orcOptions, "orcOptions is null");
    }

    @Override
    public boolean isReadWhole(PreloadFile file)
    {
        return ColumnRanges.isReadWhole(file, this);
    }

    @Override
    public List<ByteRange> find(PreloadFile file, OwnedBytes bytes)
            throws IOException
    {
        return ColumnRanges.find(file, bytes, this);
    }
}
