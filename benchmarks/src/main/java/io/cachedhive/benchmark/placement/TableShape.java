package io.cachedhive.benchmark.placement;

import io.trino.plugin.hive.HiveSplit;
import io.trino.plugin.hive.Schema;
import io.trino.spi.SplitWeight;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;

/**
 * What tables look like to a scan.
 */
enum TableShape
{
    ONE_FILE_OF_100_GIB(1, _ -> 100L << 30, true),
    FOUR_FILES_OF_1_GIB(4, _ -> 1L << 30, true),
    TEN_FILES_OF_512_MIB(10, _ -> 512L << 20, true),
    FORTY_FILES_OF_40_MIB(40, _ -> 40L << 20, true),
    TWO_HUNDRED_FILES_OF_1_GIB(200, _ -> 1L << 30, true),
    // compressed as a whole
    THREE_HUNDRED_UNCUT_FILES_OF_300_MIB(300, _ -> 300L << 20, false),
    TWENTY_THOUSAND_FILES_OF_4_MIB(20_000, _ -> 4L << 20, true),
    // 1 MiB to 8 GiB, each size as often as twice the size is larger
    FILES_OF_MANY_SIZES(2_000, random -> (long) ((1 << 20) / Math.max(random.nextDouble(), 1.0 / 8192)), true);

    /** Trino's {@code hive.max-split-size}. */
    private static final long SPLIT_BYTES = 64 << 20;
    private static final Schema SCHEMA = new Schema("serde", false, Map.of());

    private final int files;
    @SuppressWarnings("ImmutableEnumChecker") // keeps nothing
    private final ToLongFunction<SplittableRandom> fileBytes;
    private final boolean cut;

    TableShape(int files, ToLongFunction<SplittableRandom> fileBytes, boolean cut)
    {
        this.files = files;
        this.fileBytes = fileBytes;
        this.cut = cut;
    }

    /**
     * The splits of a table, file by file.
     */
    List<HiveSplit> splits(String table, SplittableRandom random)
    {
        return splits(table, random, files);
    }

    /**
     * The splits of a table that has as many gibibytes.
     */
    List<HiveSplit> splitsOfGibibytes(String table, SplittableRandom random, int gibibytes)
    {
        return splits(table, random, Math.toIntExact(((long) gibibytes << 30) / fileBytes.applyAsLong(random)));
    }

    private List<HiveSplit> splits(String table, SplittableRandom random, int files)
    {
        List<HiveSplit> splits = new ArrayList<>();
        for (int file = 0; file < files; file++) {
            String path = "s3://lake/%s/%08x-%s.parquet".formatted(table, random.nextInt(), file);
            long bytes = fileBytes.applyAsLong(random);
            long splitBytes = cut ? SPLIT_BYTES : bytes;
            for (long start = 0; start < bytes; start += splitBytes) {
                splits.add(split(path, start, Math.min(splitBytes, bytes - start), bytes));
            }
        }
        return splits;
    }

    private static HiveSplit split(String path, long start, long length, long fileBytes)
    {
        return new HiveSplit(
                "",
                path,
                start,
                length,
                fileBytes,
                1_700_000_000_000L,
                SCHEMA,
                List.of(),
                List.of(),
                Optional.empty(),
                OptionalInt.empty(),
                OptionalInt.empty(),
                false,
                Map.of(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                SplitWeight.standard());
    }
}
