package io.cachedhive.benchmark.scans;

import java.util.List;
import java.util.stream.IntStream;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * A table of equal Parquet files: a number and {@link #COLUMNS} columns of 64 random bytes, which nothing compresses and which cost next to nothing to decode.
 *
 * @param fileBytes about the length of each file
 * @param rowGroup as Trino's session property {@code parquet_writer_block_size} has it
 */
record ScanTable(String name, int files, long fileBytes, String rowGroup)
{
    static final int COLUMNS = 16;

    // id and digests; their lengths take next to nothing, since they are all the same
    private static final int ROW_BYTES = 8 + COLUMNS * 64;
    private static final int ROWS_OF_SEQUENCE = 1000;

    ScanTable
    {
        requireNonNull(name, "name is null");
        requireNonNull(rowGroup, "rowGroup is null");
    }

    long rowsOfFile()
    {
        return fileBytes / ROW_BYTES / ROWS_OF_SEQUENCE * ROWS_OF_SEQUENCE;
    }

    long rows()
    {
        return files * rowsOfFile();
    }

    /** What is written once. */
    String fileQuery()
    {
        // a digest for all columns of a row: nothing sees that they are the same, and sixteen would take as long as all the rest
        return """
                SELECT id, %1$s
                FROM (
                    SELECT id, sha512(to_big_endian_64(id)) AS digest
                    FROM (SELECT major * %2$s + minor AS id FROM UNNEST(sequence(1, %3$s)) AS a(major) CROSS JOIN UNNEST(sequence(0, %2$s - 1)) AS b(minor)))
                """.formatted(
                IntStream.range(0, COLUMNS).mapToObj("digest AS c%s"::formatted).collect(joining(", ")),
                ROWS_OF_SEQUENCE,
                rowsOfFile() / ROWS_OF_SEQUENCE);
    }

    String declaration()
    {
        return IntStream.range(0, COLUMNS)
                .mapToObj(column -> "c%s varbinary".formatted(column))
                .collect(joining(", ", "id bigint, ", ""));
    }

    /** Reads some of the columns, of every row, and returns how many rows have them. */
    String scan(String catalog, List<Integer> columns)
    {
        return "SELECT count(*), %s FROM %s.scans.%s".formatted(
                columns.stream().map("count(c%s)"::formatted).collect(joining(", ")),
                catalog,
                name);
    }

    static List<Integer> allColumns()
    {
        return IntStream.range(0, COLUMNS).boxed().toList();
    }
}
