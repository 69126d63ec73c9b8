package io.cachedhive.store.policy;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.zip.GZIPInputStream;

/**
 * Sequences of requests for blocks, each named by a number.
 */
public final class BlockTraces
{
    private BlockTraces() {}

    /**
     * Independent requests, of which the block of rank r gets a share in proportion to r^-skew.
     */
    public static long[] zipf(Random random, int blocks, double skew, int requests)
    {
        double[] cumulated = new double[blocks];
        double sum = 0;
        for (int i = 0; i < blocks; i++) {
            sum += Math.pow(i + 1, -skew);
            cumulated[i] = sum;
        }
        double total = sum;
        return LongStream.generate(() -> {
            int found = Arrays.binarySearch(cumulated, random.nextDouble() * total);
            return Math.min(blocks - 1, found < 0 ? -found - 1 : found);
        }).limit(requests).toArray();
    }

    /**
     * The same scan again and again.
     */
    public static long[] loop(int blocks, int requests)
    {
        return LongStream.range(0, requests).map(i -> i % blocks).toArray();
    }

    /**
     * Requests for a few popular blocks, and between them long scans of blocks that are read once.
     */
    public static long[] hotSetAndScans(Random random, int hotBlocks, int scanBlocks, int requests)
    {
        long[] trace = new long[requests];
        long nextCold = hotBlocks;
        int i = 0;
        while (i < requests) {
            long[] hot = zipf(random, hotBlocks, 0.7, 2 * hotBlocks);
            for (int j = 0; j < hot.length && i < requests; j++) {
                trace[i++] = hot[j];
            }
            for (int j = 0; j < scanBlocks && i < requests; j++) {
                trace[i++] = nextCold++;
            }
        }
        return trace;
    }

    /**
     * Loops of different lengths over different tables, a few rounds each, in turns with one another.
     */
    public static long[] loopsOfManyTables(Random random, int tables, int largestTable, int requests)
    {
        int[] sizes = new int[tables];
        int[] starts = new int[tables];
        int start = 0;
        for (int i = 0; i < tables; i++) {
            sizes[i] = Math.max(1, largestTable / (1 + i));
            starts[i] = start;
            start += sizes[i];
        }
        long[] trace = new long[requests];
        int i = 0;
        while (i < requests) {
            int table = random.nextInt(tables);
            for (int j = 0; j < sizes[table] && i < requests; j++) {
                trace[i++] = starts[table] + j;
            }
        }
        return trace;
    }

    /**
     * Requests for what came lately: most for the newest day, fewer for each day before, while days come.
     */
    public static long[] newestDays(Random random, int blocksPerDay, int days, int requests)
    {
        long[] trace = new long[requests];
        int requestsPerDay = requests / days;
        for (int i = 0; i < requests; i++) {
            int today = i / requestsPerDay;
            int age = (int) Math.min(today, -Math.log(1 - random.nextDouble()) * 3);
            trace[i] = (long) (today - age) * blocksPerDay + random.nextInt(blocksPerDay);
        }
        return trace;
    }

    /**
     * Queries over a star schema, like those of TPC-DS: three fact tables, partitioned by month, whose files have a row group after the other and in it
     * a column chunk after the other, and small dimensions that nearly all of them join. A query template reads some columns of one or two
     * fact tables over a range of months, and its dimensions as a whole; templates are repeated with other months, and several run at once.
     */
    public static long[] starSchema(Random random, int requests)
    {
        int blockBytes = 1 << 20;
        List<Table> tables = new ArrayList<>();
        int nextBlock = 0;
        int[][] shapes = {{60, 4, 23}, {60, 2, 34}, {60, 1, 34}, {1, 6, 18}, {1, 4, 9}, {1, 3, 13}, {1, 2, 28}, {1, 1, 5}, {1, 1, 12}};
        for (int[] shape : shapes) {
            int[] columnBytes = new int[shape[2]];
            for (int i = 0; i < columnBytes.length; i++) {
                columnBytes[i] = (128 << 10) + random.nextInt(2 << 20);
            }
            Table table = new Table(nextBlock, shape[0], shape[1], columnBytes);
            tables.add(table);
            nextBlock += shape[0] * Math.ceilDiv(shape[1] * table.rowGroupBytes(), blockBytes);
        }
        List<List<Scan>> templates = new ArrayList<>();
        for (int i = 0; i < 99; i++) {
            List<Scan> scans = new ArrayList<>();
            int facts = 1 + random.nextInt(2);
            int dimensions = 1 + random.nextInt(4);
            for (int j = 0; j < facts + dimensions; j++) {
                int table = j < facts ? Math.min(random.nextInt(6) / 2, 2) : 3 + random.nextInt(6);
                int columnCount = tables.get(table).columnBytes.length;
                scans.add(new Scan(table, random.ints(3 + random.nextInt(5), 0, columnCount).sorted().distinct().toArray()));
            }
            templates.add(scans);
        }
        long[] popularity = zipf(random, templates.size(), 0.8, 100_000);
        List<List<Long>> running = new ArrayList<>();
        long[] trace = new long[requests];
        int written = 0;
        while (written < requests) {
            while (running.size() < 4) {
                List<Long> blocks = new ArrayList<>();
                for (Scan scan : templates.get((int) popularity[random.nextInt(popularity.length)])) {
                    Table table = tables.get(scan.table);
                    int months = Math.min(table.months, 1 + random.nextInt(12));
                    // later months are asked for more often
                    int firstMonth = (int) ((table.months - months) * Math.sqrt(random.nextDouble()));
                    int fileBlocks = Math.ceilDiv(table.rowGroups * table.rowGroupBytes(), blockBytes);
                    for (int month = firstMonth; month < firstMonth + months; month++) {
                        for (int rowGroup = 0; rowGroup < table.rowGroups; rowGroup++) {
                            long offset = (long) rowGroup * table.rowGroupBytes();
                            int nextColumn = 0;
                            for (int column : scan.columns) {
                                for (; nextColumn < column; nextColumn++) {
                                    offset += table.columnBytes[nextColumn];
                                }
                                for (long block = offset / blockBytes; block <= (offset + table.columnBytes[column] - 1) / blockBytes; block++) {
                                    blocks.add(table.firstBlock + (long) month * fileBlocks + block);
                                }
                            }
                        }
                    }
                }
                running.add(blocks);
            }
            int query = random.nextInt(running.size());
            List<Long> blocks = running.get(query);
            int count = Math.min(blocks.size(), 1 + random.nextInt(16));
            for (int i = 0; i < count && written < requests; i++) {
                trace[written++] = blocks.get(i);
            }
            blocks.subList(0, count).clear();
            if (blocks.isEmpty()) {
                running.remove(query);
            }
        }
        return trace;
    }

    /**
     * What Trino read for queries over TPC-DS tables, as {@code BlockTraceRecorder} of the plugin's tests recorded it; {@code tpcds.md} beside the trace tells how.
     */
    public static long[] tpcds(int blockBytes)
    {
        LongStream.Builder blocks = LongStream.builder();
        try (InputStream in = new BufferedInputStream(new GZIPInputStream(BlockTraces.class.getResourceAsStream("tpcds.trace.gz")))) {
            while (true) {
                long file = readNumber(in);
                if (file < 0) {
                    return blocks.build().toArray();
                }
                long position = readNumber(in);
                long length = readNumber(in);
                for (long block = position / blockBytes; block <= (position + length - 1) / blockBytes; block++) {
                    blocks.add(file << 32 | block);
                }
            }
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * An unsigned LEB128 number; -1 at the end.
     */
    private static long readNumber(InputStream in)
            throws IOException
    {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            int next = in.read();
            if (next < 0) {
                return -1;
            }
            value |= (long) (next & 0x7F) << shift;
            if (next < 0x80) {
                return value;
            }
        }
    }

    private record Table(int firstBlock, int months, int rowGroups, int[] columnBytes)
    {
        int rowGroupBytes()
        {
            return Arrays.stream(columnBytes).sum();
        }
    }

    private record Scan(int table, int[] columns) {}
}
