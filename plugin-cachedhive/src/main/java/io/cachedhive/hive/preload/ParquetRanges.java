package io.cachedhive.hive.preload;

import com.google.common.collect.ImmutableSet;
import io.cachedhive.plugin.preload.ByteRange;
import io.cachedhive.plugin.preload.OwnedBytes;
import io.cachedhive.plugin.preload.PreloadFile;
import io.trino.parquet.AbstractParquetDataSource;
import io.trino.parquet.BloomFilterStore;
import io.trino.parquet.ParquetDataSourceId;
import io.trino.parquet.ParquetReaderOptions;
import io.trino.parquet.metadata.BlockMetadata;
import io.trino.parquet.metadata.ColumnChunkMetadata;
import io.trino.parquet.metadata.IndexReference;
import io.trino.parquet.metadata.ParquetMetadata;
import io.trino.parquet.reader.MetadataReader;
import org.apache.parquet.hadoop.metadata.ColumnPath;
import org.apache.parquet.schema.MessageType;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.trino.parquet.ParquetTypeUtils.getDescriptors;
import static io.trino.plugin.hive.parquet.ParquetPageSourceFactory.getParquetMessageType;

/**
 * Footer, column chunks with their dictionaries, page indexes and Bloom filters.
 */
final class ParquetRanges
{
    private ParquetRanges() {}

    static List<ByteRange> find(PreloadFile file, OwnedBytes bytes, ColumnReaders readers)
            throws IOException
    {
        if (ColumnRanges.isReadWhole(file, readers)) {
            return file.whole();
        }
        ParquetReaderOptions options = readers.parquetOptions();
        List<ByteRange> ranges = new ArrayList<>();
        try (OwnedParquetDataSource source = new OwnedParquetDataSource(file, bytes, options)) {
            ParquetMetadata metadata = MetadataReader.readFooter(source, options, Optional.empty(), readers.parquetDecryption());
            MessageType schema = metadata.getFileMetaData().getSchema();
            Set<ColumnPath> paths = getParquetMessageType(readers.columns(), readers.parquetByName(), schema)
                    .map(requested -> getDescriptors(schema, requested).keySet().stream()
                            .map(path -> ColumnPath.get(path.toArray(new String[0])))
                            .collect(toImmutableSet()))
                    .orElse(ImmutableSet.of());
            for (BlockMetadata rowGroup : metadata.getBlocks()) {
                BloomFilterStore bloomFilters = new BloomFilterStore(source, rowGroup, paths, metadata.getDecryptionContext());
                for (ColumnChunkMetadata chunk : rowGroup.columns()) {
                    if (!paths.contains(chunk.getPath())) {
                        continue;
                    }
                    ranges.add(ByteRange.ofLength(chunk.getStartingPos(), chunk.getTotalSize()));
                    if (options.isUseColumnIndex()) {
                        index(chunk.getColumnIndexReference()).ifPresent(ranges::add);
                        index(chunk.getOffsetIndexReference()).ifPresent(ranges::add);
                    }
                    if (options.useBloomFilter()) {
                        // how long it is stands at its beginning; reading it notes where it is
                        bloomFilters.getBloomFilter(chunk.getPath());
                    }
                }
            }
        }
        ranges.addAll(bytes.read());
        return ByteRange.join(ranges, options.getMaxMergeDistance().toBytes());
    }

    private static Optional<ByteRange> index(IndexReference reference)
    {
        return Optional.ofNullable(reference).map(index -> ByteRange.ofLength(index.getOffset(), index.getLength()));
    }

    private static final class OwnedParquetDataSource
            extends AbstractParquetDataSource
    {
        private final OwnedBytes bytes;

        OwnedParquetDataSource(PreloadFile file, OwnedBytes bytes, ParquetReaderOptions options)
        {
            super(new ParquetDataSourceId(file.version().location()), file.version().length(), options);
            this.bytes = bytes;
        }

        @Override
        protected void readInternal(long position, byte[] buffer, int bufferOffset, int bufferLength)
                throws IOException
        {
            bytes.readFully(position, buffer, bufferOffset, bufferLength);
        }

        @Override
        public void close() {}
    }
}
