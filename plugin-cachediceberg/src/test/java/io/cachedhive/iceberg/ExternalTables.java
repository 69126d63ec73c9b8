package io.cachedhive.iceberg;

import io.cachedhive.testing.cluster.s3.S3Server;
import io.opentelemetry.api.OpenTelemetry;
import io.trino.filesystem.s3.S3FileSystemConfig;
import io.trino.filesystem.s3.S3FileSystemFactory;
import io.trino.filesystem.s3.S3FileSystemStats;
import io.trino.plugin.iceberg.fileio.ForwardingFileIo;
import io.trino.spi.security.ConnectorIdentity;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.LocationProviders;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.avro.Avro;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.data.avro.DataWriter;
import org.apache.iceberg.deletes.EqualityDeleteWriter;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.LocationProvider;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import static com.google.common.collect.Iterables.getOnlyElement;

/**
 * Writes what Trino does not write, as another engine would: equality deletes, and file sizes that are wrong. The results are metadata files for {@code register_table}.
 */
final class ExternalTables
        implements AutoCloseable
{
    private final S3FileSystemFactory factory;
    private final FileIO io;

    ExternalTables(S3Server s3)
    {
        Map<String, String> properties = s3.clientProperties();
        factory = new S3FileSystemFactory(
                OpenTelemetry.noop(),
                new S3FileSystemConfig()
                        .setEndpoint(properties.get("s3.endpoint"))
                        .setRegion(properties.get("s3.region"))
                        .setPathStyleAccess(true)
                        .setAwsAccessKey(properties.get("s3.aws-access-key"))
                        .setAwsSecretKey(properties.get("s3.aws-secret-key")),
                new S3FileSystemStats());
        io = new ForwardingFileIo(factory.create(ConnectorIdentity.ofUser("test")), true);
    }

    /**
     * Writes the metadata of a table that has the same files with other sizes.
     *
     * @param change bytes to add to the size of each file
     * @return the new metadata
     */
    TableMetadata withWrongSizes(String metadataLocation, long change)
            throws IOException
    {
        TableMetadata original = TableMetadataParser.read(io.newInputFile(metadataLocation));
        BaseTable source = new BaseTable(new FileOperations(io, original), "source");
        List<DataFile> files = new ArrayList<>();
        try (CloseableIterable<FileScanTask> tasks = source.newScan().includeColumnStats().planFiles()) {
            for (FileScanTask task : tasks) {
                files.add(DataFiles.builder(PartitionSpec.unpartitioned())
                        .copy(task.file())
                        .withFileSizeInBytes(task.file().fileSizeInBytes() + change)
                        .build());
            }
        }
        TableMetadata empty = TableMetadata.newTableMetadata(
                original.schema(),
                PartitionSpec.unpartitioned(),
                original.location() + "-" + UUID.randomUUID(),
                original.properties());
        FileOperations operations = new FileOperations(io, empty);
        var append = new BaseTable(operations, "wrong").newAppend();
        files.forEach(append::appendFile);
        append.commit();
        return operations.current();
    }

    /**
     * Writes an equality delete file of a table.
     *
     * @param values of the column in the rows to delete
     * @return the new metadata
     */
    TableMetadata withEqualityDeletes(String metadataLocation, String column, List<?> values)
            throws IOException
    {
        FileOperations operations = new FileOperations(io, TableMetadataParser.read(io.newInputFile(metadataLocation)));
        Schema schema = operations.current().schema().select(column);
        String path = operations.current().location() + "/data/" + UUID.randomUUID() + ".avro";
        EqualityDeleteWriter<Record> writer = Avro.writeDeletes(io.newOutputFile(path))
                .createWriterFunc(DataWriter::create)
                .rowSchema(schema)
                .withSpec(PartitionSpec.unpartitioned())
                .equalityFieldIds(getOnlyElement(schema.columns()).fieldId())
                .buildEqualityWriter();
        try (writer) {
            for (Object value : values) {
                GenericRecord row = GenericRecord.create(schema);
                row.setField(column, value);
                writer.write(row);
            }
        }
        DeleteFile deletes = writer.toDeleteFile();
        new BaseTable(operations, "deletes").newRowDelta().addDeletes(deletes).commit();
        return operations.current();
    }

    @Override
    public void close()
    {
        factory.destroy();
    }

    private static final class FileOperations
            implements TableOperations
    {
        private final FileIO io;
        private TableMetadata current;

        private FileOperations(FileIO io, TableMetadata current)
        {
            this.io = io;
            this.current = current;
        }

        @Override
        public TableMetadata current()
        {
            return current;
        }

        @Override
        public TableMetadata refresh()
        {
            return current;
        }

        @Override
        public void commit(TableMetadata base, TableMetadata metadata)
        {
            String location = metadataFileLocation("00001-%s.metadata.json".formatted(UUID.randomUUID()));
            TableMetadataParser.write(metadata, io.newOutputFile(location));
            current = TableMetadataParser.read(io.newInputFile(location));
        }

        @Override
        public FileIO io()
        {
            return io;
        }

        @Override
        public String metadataFileLocation(String fileName)
        {
            return current.location() + "/metadata/" + fileName;
        }

        @Override
        public LocationProvider locationProvider()
        {
            return LocationProviders.locationsFor(current.location(), current.properties());
        }
    }
}
