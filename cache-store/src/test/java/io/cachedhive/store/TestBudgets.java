package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the store takes of a real disk and of shared memory, and how much of that is blocks.
 */
@Tag("slow")
class TestBudgets
{
    private static final int BLOCK = 1 << 20;
    private static final long SSD_CAPACITY = 64 << 20;
    private static final long RAM_CAPACITY = 48 << 20;
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);

    @TempDir
    private Path directory;

    private Path ssd;
    private BlockStore store;
    private int files;

    @BeforeEach
    void open()
            throws IOException, StoreException
    {
        ssd = Files.createDirectories(directory.resolve("ssd"));
        store = BlockStore.open(
                StoreConfig.ramOnly(directory.resolve("state"))
                        .withBlockSize(BLOCK)
                        .withRam(Files.createDirectories(directory.resolve("ram")), RAM_CAPACITY)
                        .withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.Bytes(SSD_CAPACITY)))),
                // frames rest a hundredth of the time, which is all that a block would wait for
                StoreEnvironment.system().withClock(new FastClock()));
    }

    @AfterEach
    void close()
    {
        store.close();
    }

    /**
     * trino issue 25105: the files of a cache took more of the disk than was configured.
     */
    @Test
    void neverTakesMoreOfTheDiskThanItMay()
            throws Exception
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed: " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        List<String> fileNames = fileNames();
        long written = 0;
        for (int i = 0; written < 8 * SSD_CAPACITY; i++) {
            int length = random.nextInt(1 << 10, BLOCK + 1);
            if (fill(length)) {
                written += length;
            }
            if (i % 200 == 0) {
                assertThat(diskUsage()).as("bytes on disk after %s were written", written).isLessThanOrEqualTo(SSD_CAPACITY);
                assertThat(fileNames()).isEqualTo(fileNames);
            }
        }
        assertThat(diskUsage()).isBetween(SSD_CAPACITY * 9 / 10, SSD_CAPACITY);
        assertThat(fileNames()).isEqualTo(fileNames);
        assertThat(store.gauges().ssdEvictions()).isPositive();
        // a busy disk may well be slow
        assertThat(store.gauges().ssdErrors()).allSatisfy((cause, count) -> assertThat(cause == SsdErrorCause.SLOW ? 0L : count).as("%s", cause).isZero());
        System.out.printf("blocks of mixed lengths are %.1f %% of the SSD and %.1f %% of the RAM%n", ssdShare() * 100, ramShare() * 100);
    }

    @Test
    void wastesLittleOnSmallFiles()
    {
        while (store.gauges().ssdEvictions() < 100 || store.gauges().ramEvictions() < 100) {
            fill(50 << 10);
        }
        System.out.printf("files of 50 KiB are %.1f %% of the SSD and %.1f %% of the RAM%n", ssdShare() * 100, ramShare() * 100);
        assertThat(ssdShare()).isGreaterThanOrEqualTo(0.75);
        assertThat(ramShare()).isGreaterThanOrEqualTo(0.75);
    }

    private double ssdShare()
    {
        return (double) store.gauges().ssdUsedBytes() / SSD_CAPACITY;
    }

    private double ramShare()
    {
        return (double) store.gauges().ramUsedBytes() / RAM_CAPACITY;
    }

    /**
     * A file of one block.
     *
     * @return whether it came to the SSD
     */
    private boolean fill(int length)
    {
        FileVersion file = TestingBlocks.file(files++, length);
        assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
        BlockKey key = file.id().block(0);
        Fill fill = TestingBlocks.awaitFrame(() -> store.beginFill(key, length, ETAG));
        fill.buffer().put(TestingBlocks.bytes(key, ETAG, length));
        fill.commit().orElseThrow().close();
        store.ssd().drain();
        return store.isOnSsd(key);
    }

    private List<String> fileNames()
            throws IOException
    {
        try (Stream<Path> paths = Files.list(ssd)) {
            return paths.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }

    /**
     * As an operator sees it.
     */
    private long diskUsage()
            throws IOException, InterruptedException
    {
        Process du = new ProcessBuilder("du", "--block-size=1", "--summarize", ssd.toString()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String output = new String(du.getInputStream().readAllBytes(), US_ASCII);
        assertThat(du.waitFor()).as("exit code of du").isZero();
        return Long.parseLong(output.substring(0, output.indexOf('\t')));
    }
}
