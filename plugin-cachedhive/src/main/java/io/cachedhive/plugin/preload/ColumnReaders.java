package io.cachedhive.plugin.preload;

import io.trino.orc.OrcReaderOptions;
import io.trino.parquet.ParquetReaderOptions;
import io.trino.parquet.crypto.FileDecryptionProperties;
import io.trino.plugin.hive.HiveColumnHandle;

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
{
    ColumnReaders
    {
        columns = List.copyOf(columns);
        requireNonNull(parquetOptions, "parquetOptions is null");
        requireNonNull(parquetDecryption, "parquetDecryption is null");
        requireNonNull(orcOptions, "orcOptions is null");
    }
}
