package io.cachedhive.admin;

import io.cachedhive.admin.sql.TrinoClient;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.util.ArrayList;
import java.util.List;

import static java.util.stream.Collectors.joining;

/**
 * A table, or some of its partitions, as an argument of a procedure.
 */
final class TableOptions
{
    @Parameters(paramLabel = "SCHEMA.TABLE", description = "the table")
    private String table;

    @Option(
            names = "--partition",
            split = ",",
            paramLabel = "COLUMN=VALUE",
            description = "only partitions with these values, such as ds=2024-03-08,region=eu")
    private List<String> partition = List.of();

    boolean hasPartition()
    {
        return !partition.isEmpty();
    }

    /// @throws WrongUsageException if table or partition are not written as they are to be
    String arguments()
    {
        int dot = table.indexOf('.');
        if (dot < 1 || dot == table.length() - 1) {
            throw new WrongUsageException("%s is no table: write it as SCHEMA.TABLE.".formatted(table));
        }
        StringBuilder arguments = new StringBuilder("schema_name => %s, table_name => %s"
                .formatted(TrinoClient.literal(table.substring(0, dot)), TrinoClient.literal(table.substring(dot + 1))));
        if (hasPartition()) {
            List<String> columns = new ArrayList<>();
            List<String> values = new ArrayList<>();
            for (String part : partition) {
                int equals = part.indexOf('=');
                if (equals < 1) {
                    throw new WrongUsageException("--partition has %s: write each as COLUMN=VALUE.".formatted(part));
                }
                columns.add(part.substring(0, equals));
                values.add(part.substring(equals + 1));
            }
            arguments.append(", partition_columns => ").append(array(columns)).append(", partition_values => ").append(array(values));
        }
        return arguments.toString();
    }

    static String array(List<String> texts)
    {
        return texts.stream().map(TrinoClient::literal).collect(joining(", ", "ARRAY[", "]"));
    }
}
