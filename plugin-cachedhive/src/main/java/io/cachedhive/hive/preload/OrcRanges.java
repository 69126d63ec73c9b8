package io.cachedhive.hive.preload;

import io.airlift.slice.Slice;
import io.cachedhive.plugin.preload.ByteRange;
import io.cachedhive.plugin.preload.OwnedBytes;
import io.cachedhive.plugin.preload.PreloadFile;
import io.trino.orc.AbstractOrcDataSource;
import io.trino.orc.OrcColumn;
import io.trino.orc.OrcDataSourceId;
import io.trino.orc.OrcDecompressor;
import io.trino.orc.OrcReader;
import io.trino.orc.OrcReaderOptions;
import io.trino.orc.metadata.OrcColumnId;
import io.trino.orc.metadata.OrcMetadataReader;
import io.trino.orc.metadata.Stream;
import io.trino.orc.metadata.StripeFooter;
import io.trino.orc.metadata.StripeInformation;
import io.trino.orc.stream.OrcChunkLoader;
import io.trino.orc.stream.OrcInputStream;
import io.trino.plugin.hive.HiveColumnHandle;

import java.io.IOException;
import java.io.InputStream;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

import static io.trino.memory.context.AggregatedMemoryContext.newSimpleAggregatedMemoryContext;
import static java.lang.Math.toIntExact;

/**
 * File footer, stripe footers, and the index, dictionary and data streams of the columns. Stripes of a split that has only tiny ones are read whole.
 */
final class OrcRanges
{
    // in files of transactional tables the table's columns are the fields of the one called row
    private static final String ACID_ROW = "row";
    private static final Set<String> ACID_COLUMNS = Set.of("originaltransaction", "bucket", "rowid");

    private OrcRanges() {}

    static List<ByteRange> find(PreloadFile file, OwnedBytes bytes, ColumnReaders readers)
            throws IOException
    {
        if (ColumnRanges.isReadWhole(file, readers)) {
            return file.whole();
        }
        OrcReaderOptions options = readers.orcOptions();
        OwnedOrcDataSource source = new OwnedOrcDataSource(file, bytes, options);
        Optional<OrcReader> reader = OrcReader.createOrcReader(source, options);
        if (reader.isEmpty()) {
            return ByteRange.join(bytes.read(), 0);
        }
        Set<OrcColumnId> columns = new HashSet<>();
        addWithNested(columns, findColumns(reader.get().getRootColumn().getNestedColumns(), file.acid(), readers));

        List<ByteRange> ranges = new ArrayList<>();
        for (ByteRange split : file.splits()) {
            List<StripeInformation> stripes = reader.get().getFooter().getStripes().stream()
                    .filter(stripe -> stripe.getOffset() >= split.start() && stripe.getOffset() < split.end())
                    .toList();
            boolean tiny = stripes.stream().allMatch(stripe -> stripe.getTotalLength() <= options.getTinyStripeThreshold().toBytes());
            for (StripeInformation stripe : stripes) {
                if (tiny) {
                    ranges.add(ByteRange.ofLength(stripe.getOffset(), stripe.getTotalLength()));
                }
                else {
                    addStreams(ranges, stripe, readStripeFooter(source, reader.get(), stripe, options), columns);
                }
            }
        }
        ranges.addAll(bytes.read());
        return ByteRange.join(ranges, options.getMaxMergeDistance().toBytes());
    }

    private static List<OrcColumn> findColumns(List<OrcColumn> fileColumns, boolean acid, ColumnReaders readers)
    {
        List<OrcColumn> found = new ArrayList<>();
        List<OrcColumn> candidates = fileColumns;
        Optional<OrcColumn> row = fileColumns.stream().filter(column -> column.getColumnName().equalsIgnoreCase(ACID_ROW)).findFirst();
        boolean wrapped = acid && row.isPresent();
        if (wrapped) {
            candidates = row.get().getNestedColumns();
            fileColumns.stream()
                    .filter(column -> ACID_COLUMNS.contains(column.getColumnName().toLowerCase(Locale.ENGLISH)))
                    .forEach(found::add);
        }
        for (HiveColumnHandle column : readers.columns()) {
            // readers of wrapped rows go by the place where names contradict it
            if ((readers.orcByName() || acid) && !wrapped) {
                candidates.stream().filter(candidate -> candidate.getColumnName().equalsIgnoreCase(column.getBaseColumnName())).forEach(found::add);
            }
            else if (column.getBaseHiveColumnIndex() < candidates.size()) {
                found.add(candidates.get(column.getBaseHiveColumnIndex()));
            }
        }
        return found;
    }

    private static void addWithNested(Set<OrcColumnId> ids, Collection<OrcColumn> columns)
    {
        for (OrcColumn column : columns) {
            ids.add(column.getColumnId());
            addWithNested(ids, column.getNestedColumns());
        }
    }

    private static StripeFooter readStripeFooter(OwnedOrcDataSource source, OrcReader reader, StripeInformation stripe, OrcReaderOptions options)
            throws IOException
    {
        Slice footer = source.readFully(stripe.getOffset() + stripe.getIndexLength() + stripe.getDataLength(), toIntExact(stripe.getFooterLength()));
        Optional<OrcDecompressor> decompressor = OrcDecompressor.createOrcDecompressor(source.getId(), reader.getCompressionKind(), reader.getBufferSize());
        try (InputStream input = new OrcInputStream(OrcChunkLoader.create(source.getId(), footer, decompressor, newSimpleAggregatedMemoryContext()))) {
            return new OrcMetadataReader(options).readStripeFooter(reader.getFooter().getTypes(), input, ZoneOffset.UTC);
        }
    }

    private static void addStreams(List<ByteRange> ranges, StripeInformation stripe, StripeFooter footer, Set<OrcColumnId> columns)
    {
        long position = stripe.getOffset();
        for (Stream stream : footer.getStreams()) {
            if (columns.contains(stream.getColumnId())) {
                ranges.add(ByteRange.ofLength(position, stream.getLength()));
            }
            position += stream.getLength();
        }
    }

    private static final class OwnedOrcDataSource
            extends AbstractOrcDataSource
    {
        private final OwnedBytes bytes;

        OwnedOrcDataSource(PreloadFile file, OwnedBytes bytes, OrcReaderOptions options)
        {
            super(new OrcDataSourceId(file.version().location()), file.version().length(), options);
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
