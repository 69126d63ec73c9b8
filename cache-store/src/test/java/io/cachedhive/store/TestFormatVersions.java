package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

import static io.cachedhive.store.block.RecoveryFinding.CLEAN_STOP;
import static io.cachedhive.store.block.RecoveryFinding.CRASH;
import static io.cachedhive.store.block.RecoveryFinding.NEW_DIRECTORY;
import static io.cachedhive.store.block.RecoveryFinding.SUPERBLOCK_TOO_NEW;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A release whose format has a version more than this one's, in the place of this one and the other way round.
 */
class TestFormatVersions
{
    private static final int BLOCK = 64 << 10;
    private static final SsdFormat CURRENT = SsdFormat.CURRENT;
    private static final SsdFormat NEXT = new SsdFormat(CURRENT.oldest(), CURRENT.newest() + 1);

    @TempDir
    private Path directory;

    private StoreConfig config;

    @BeforeEach
    void configure()
            throws IOException
    {
        config = config("one");
    }

    private StoreConfig config(String... names)
            throws IOException
    {
        List<SsdDirectoryConfig> directories = new ArrayList<>();
        for (String name : names) {
            directories.add(new SsdDirectoryConfig(Files.createDirectories(directory.resolve(name)), new Capacity.Bytes(8 << 20)));
        }
        return StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 3 << 20)
                .withCheckpointInterval(Duration.ofDays(1000))
                .withSsdDirectories(directories);
    }

    @Test
    void newerReleaseKeepsTheVersionUntilItIsRaised()
            throws Exception
    {
        try (BlockStore store = open(CURRENT, NEW_DIRECTORY)) {
            fill(store, 0);
        }
        assertThat(versions("one")).containsExactly(CURRENT.newest());

        try (BlockStore store = open(NEXT, CLEAN_STOP)) {
            checkBlocks(store, 0);
            fill(store, 1);
        }
        assertThat(versions("one")).containsExactly(CURRENT.newest());

        // the way back, after a clean stop and after a crash, takes the newer release's blocks along
        try (BlockStore store = open(CURRENT, CLEAN_STOP)) {
            checkBlocks(store, 0, 1);
        }
        BlockStore crashed = open(NEXT, CLEAN_STOP);
        fill(crashed, 2);
        crashed.ssd().flush();
        crashed.abandon();
        try (BlockStore store = open(CURRENT, CRASH)) {
            checkBlocks(store, 0, 1, 2);
        }
    }

    @Test
    void raisedVersionStays()
            throws Exception
    {
        try (BlockStore store = open(CURRENT, NEW_DIRECTORY)) {
            fill(store, 0);
        }
        BlockStore raised = open(NEXT, CLEAN_STOP);
        assertThat(raised.ssdFormats().versions()).containsExactly(Map.entry(directory.resolve("one"), CURRENT.newest()));
        raised.ssdFormats().raise();
        assertThat(raised.ssdFormats().versions()).containsExactly(Map.entry(directory.resolve("one"), NEXT.newest()));
        // again changes nothing
        raised.ssdFormats().raise();
        fill(raised, 1);
        raised.ssd().flush();
        // with the checkpoint of the version before
        raised.abandon();

        try (BlockStore store = open(NEXT, CRASH)) {
            checkBlocks(store, 0, 1);
        }
        assertThat(superblockVersion("one")).isEqualTo(NEXT.newest());
        assertThat(versions("one")).contains(NEXT.newest());
        try (BlockStore store = open(NEXT, CLEAN_STOP)) {
            checkBlocks(store, 0, 1);
        }

        // there is no way back from here: it begins empty, and says so
        try (BlockStore store = open(CURRENT, SUPERBLOCK_TOO_NEW)) {
            assertThat(store.load(file(0).id().block(0))).isEmpty();
            fill(store, 3);
        }
        assertThat(superblockVersion("one")).isEqualTo(CURRENT.newest());
    }

    @Test
    void newDirectoryHasTheVersionOfTheOthers()
            throws Exception
    {
        try (BlockStore store = open(CURRENT, NEW_DIRECTORY)) {
            fill(store, 0);
        }
        config = config("one", "two");
        try (BlockStore store = open(NEXT, CLEAN_STOP, NEW_DIRECTORY)) {
            assertThat(store.ssdFormats().versions().values()).containsOnly(CURRENT.newest());
            store.ssdFormats().raise();
        }
        assertThat(superblockVersion("one")).isEqualTo(NEXT.newest());
        assertThat(superblockVersion("two")).isEqualTo(NEXT.newest());
    }

    @Test
    void firstDirectoryHasTheNewest()
            throws Exception
    {
        try (BlockStore store = open(NEXT, NEW_DIRECTORY)) {
            assertThat(store.ssdFormats().versions().values()).containsOnly(NEXT.newest());
        }
    }

    private BlockStore open(SsdFormat format, RecoveryFinding... findings)
            throws StoreException
    {
        BlockStore store = BlockStore.open(config, StoreEnvironment.system().withClock(new FastClock()).withSsdFormat(format));
        assertThat(store.recovery()).extracting(RecoveryOutcome::finding).contains(findings);
        return store;
    }

    private static FileVersion file(int number)
    {
        return TestingBlocks.file(number, BLOCK);
    }

    private static void fill(BlockStore store, int number)
    {
        FileVersion file = file(number);
        assertThat(store.bind(file, Optional.empty(), false, "schema.table")).isTrue();
        BlockKey key = file.id().block(0);
        Fill fill = store.beginFill(key, BLOCK, ETags.NONE).orElseThrow();
        fill.buffer().put(TestingBlocks.bytes(key, ETags.NONE, BLOCK));
        fill.commit().orElseThrow().close();
        store.ssd().drain();
        assertThat(store.isOnSsd(key)).isTrue();
    }

    private static void checkBlocks(BlockStore store, int... numbers)
    {
        assertThat(store.gauges().restoredBlocks()).isEqualTo(numbers.length);
        for (int number : numbers) {
            BlockKey key = file(number).id().block(0);
            try (PinnedBlock block = store.load(key).orElseThrow()) {
                assertThat(TestingBlocks.copy(block.payload())).isEqualTo(TestingBlocks.bytes(key, ETags.NONE, BLOCK));
            }
        }
        store.checkInvariants();
    }

    private int superblockVersion(String name)
            throws IOException
    {
        return version(directory.resolve(name).resolve("superblock"), 0);
    }

    /**
     * Of all pages with a header that are in force.
     */
    private Set<Integer> versions(String name)
            throws IOException
    {
        Path path = directory.resolve(name);
        Set<Integer> versions = new TreeSet<>();
        versions.add(version(path.resolve("superblock"), 0));
        versions.add(version(path.resolve("superblock"), 4096));
        versions.add(version(path.resolve("checkpoint-0"), 0));
        versions.add(version(path.resolve("checkpoint-1"), 0));
        // never written
        versions.remove(0);
        return versions;
    }

    private static int version(Path file, int page)
            throws IOException
    {
        return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN).getInt(page + 8);
    }
}
