package io.cachedhive.benchmark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import io.cachedhive.benchmark.memory.MemoryDirectory;
import io.cachedhive.testing.cluster.home.Distribution;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

@Tag("slow")
class TestBenchmarkMain
{
    static {
        // another build on this machine may run its benchmarks: these figures do not matter
        System.setProperty("jmh.ignoreLock", "true");
    }

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream error = new ByteArrayOutputStream();

    @TempDir
    private Path directory;
    // of this test, because other benchmarks of this machine have theirs in shared memory, too
    private Path memory;

    @BeforeEach
    void createMemory()
            throws IOException
    {
        memory = Files.createTempDirectory(MemoryDirectory.parent(), "cachedhive-test");
        System.setProperty(MemoryDirectory.PARENT_PROPERTY, memory.toString());
    }

    @AfterEach
    void deleteMemory()
            throws IOException
    {
        System.clearProperty(MemoryDirectory.PARENT_PROPERTY);
        MoreFiles.deleteRecursively(memory, RecursiveDeleteOption.ALLOW_INSECURE);
    }

    @Test
    void testFiguresOfEveryKind()
            throws IOException
    {
        Path file = directory.resolve("figures.json");

        int code = run("micro", "--in-process", "--runs", "2", "--measure", "20", "--only", "^(ram_hit_64KiB|owner_1000_workers|wire_read_read)$", "--out", file.toString());

        assertThat(error.toString(UTF_8)).doesNotContain("Exception");
        assertThat(code).isZero();
        JsonNode content = new ObjectMapper().readTree(Files.readString(file));
        assertThat(content.get("figures")).extracting(figure -> figure.get("name").asText())
                .containsExactly("ram_hit_64KiB_to_copy", "ram_hit_64KiB", "copy_64KiB", "owner_1000_workers", "wire_read_read");
        for (JsonNode figure : content.get("figures")) {
            assertThat(figure.get("value").asDouble()).isPositive().isFinite();
            assertThat(figure.get("runs").asInt()).isEqualTo(2);
        }
        JsonNode ratio = content.get("figures").get(0);
        assertThat(ratio.get("unit").asText()).isEqualTo("ratio");
        assertThat(ratio.get("budget").asDouble()).isEqualTo(1.3);
        assertThat(ratio.get("holds").asBoolean()).isEqualTo(ratio.get("value").asDouble() <= 1.3);
        assertThat(content.get("figures").get(4).get("holds").isNull()).isTrue();
        assertThat(content.get("machine").get("processors").asInt()).isPositive();
        assertThat(content.get("command").asText()).startsWith("bin/benchmark micro --in-process --runs 2");
        assertThat(out.toString(UTF_8)).contains("ram_hit_64KiB_to_copy", "load average before and after");
        // nothing stays in shared memory
        assertThat(memory).isEmptyDirectory();
    }

    @Tag("conformance")
    @Test
    void testEachRunHasItsJvm()
            throws IOException
    {
        Path file = directory.resolve("figures.json");

        int code = run("micro", "--runs", "2", "--measure", "20", "--only", "^wire_read_read$", "--out", file.toString());

        assertThat(code).describedAs(error.toString(UTF_8)).isZero();
        JsonNode figures = new ObjectMapper().readTree(Files.readString(file)).get("figures");
        assertThat(figures).singleElement().satisfies(figure -> assertThat(figure.get("value").asDouble()).isPositive().isFinite());
    }

    // a minute
    @Tag("exhaustive")
    @Test
    void testStore()
            throws IOException
    {
        Path file = directory.resolve("figures.json");

        int code = run(
                "store",
                "--blocks",
                "3000",
                "--runs",
                "2",
                "--heap",
                "256m",
                "--phases",
                "FILL,STARTS,READS,ENCRYPTED",
                "--directory",
                directory.toString(),
                "--out",
                file.toString());

        assertThat(code).describedAs(error.toString(UTF_8)).isZero();
        JsonNode content = new ObjectMapper().readTree(Files.readString(file));
        assertThat(content.get("figures")).extracting(figure -> figure.get("name").asText()).containsExactly(
                "metadata_per_block_16_blocks_in_file",
                "resident_without_ram_tier_16_blocks_in_file",
                "first_hit_after_stop_16_blocks_in_file",
                "all_restored_after_stop_16_blocks_in_file",
                "first_hit_after_kill_16_blocks_in_file",
                "all_restored_after_kill_16_blocks_in_file",
                "lost_by_kill_16_blocks_in_file",
                "read_p999_during_checkpoint_16_blocks_in_file",
                "all_restored_encrypted_16_blocks_in_file",
                "all_restored_encrypted_to_plain_16_blocks_in_file");
        for (JsonNode figure : content.get("figures")) {
            assertThat(figure.get("value").asDouble()).isFinite();
            assertThat(figure.get("budget").isNull()).isFalse();
        }
        JsonNode lost = content.get("figures").get(6);
        assertThat(lost.get("value").asDouble()).isBetween(0.0, 1.0);
        // nothing stays on disk and in shared memory
        assertThat(directory.toFile().list()).containsExactly("figures.json");
        assertThat(memory).isEmptyDirectory();
    }

    // half a minute; TestAttacks starts the same processes
    @Tag("exhaustive")
    @Test
    void testFiles()
            throws IOException
    {
        // the cache worker runs from its package, which mvn verify builds before this module's tests and mvn test does not
        assumeThat(Distribution.find().missing()).as("what is not packaged").isEmpty();
        Path file = directory.resolve("figures.json");

        int code = run("files", "--files", "500", "--runs", "2", "--readers", "2", "--fillers", "4", "--latency", "0", "--out", file.toString());

        assertThat(code).describedAs(error.toString(UTF_8)).isZero();
        JsonNode content = new ObjectMapper().readTree(Files.readString(file));
        assertThat(content.get("figures")).extracting(figure -> figure.get("name").asText()).containsExactly(
                "cached_small_files_to_large_wall",
                "cached_small_files_to_large_cpu",
                "cached_small_files_to_large_measured",
                "cached_small_files_to_large_peer",
                "cached_small_files_to_large_in_1MiB_reads_wall",
                "cached_small_files_to_large_in_1MiB_reads_cpu",
                "cached_small_files_to_large_in_1MiB_reads_measured",
                "cached_small_files_to_large_in_1MiB_reads_peer",
                "fill_of_small_files_at_0ms_to_plain_wall",
                "fill_of_small_files_at_0ms_to_plain_cpu",
                "fill_of_small_files_at_0ms_to_plain_requests",
                "fill_of_small_files_at_0ms_to_plain_measured",
                "fill_of_small_files_at_0ms_to_plain_peer");
        for (JsonNode figure : content.get("figures")) {
            assertThat(figure.get("value").asDouble()).isPositive().isFinite();
        }
        // a GET for each file, as plain Hive's; a file that is fetched ahead when there is no frame for it, after a pause of the JVM, is fetched again by its reader
        assertThat(content.get("figures").get(10).get("interval").get("mean").asDouble()).isBetween(1.0, 1.05);
        assertThat(memory).isEmptyDirectory();
    }

    @Tag("exhaustive")
    @Test
    void testPlacement()
            throws IOException
    {
        Path file = directory.resolve("figures.json");

        int code = run("placement", "--keys", "200000", "--runs", "2", "--hours", "1", "--out", file.toString());

        assertThat(code).describedAs(error.toString(UTF_8)).isZero();
        JsonNode content = new ObjectMapper().readTree(Files.readString(file));
        List<String> names = new ArrayList<>();
        for (JsonNode figure : content.get("figures")) {
            String name = figure.get("name").asText();
            names.add(name);
            assertThat(figure.get("value").asDouble()).as(name).isFinite();
            // what holds by construction, and not by many keys and runs on a quiet machine
            if (name.startsWith("most_for_a_worker_") || name.startsWith("most_splits_10_percent") && !figure.get("holds").isNull() || name.equals("moved_by_new_addresses")) {
                assertThat(figure.get("holds").asBoolean()).as("%s, %s", figure, out.toString(UTF_8)).isTrue();
            }
        }
        assertThat(names).contains(
                "owner_1000_workers",
                "split_1000_workers_weighted",
                "shares_of_1000_workers_chi_square",
                "moved_by_one_of_8_that_leaves",
                "moved_by_one_that_joins_64",
                "weights_1_2_4_error",
                "moved_by_new_addresses",
                "most_for_a_worker_four_files_of_1_gib_8_workers",
                "overflow_one_file_of_100_gib_1000_workers",
                "served_by_survivors_of_60_percent_lost",
                "most_splits_10_percent_with_cache_twenty_thousand_files_of_4_mib_to_plain",
                "rings_changed_by_flaps_life_of_64_workers");
        // the same again by the seed that it tells
        assertThat(content.get("command").asText()).matches("bin/benchmark placement --keys .* --seed -?[0-9]+");
    }

    @Test
    void testWrongUsage()
    {
        assertThat(run("micro", "--nonsense")).isEqualTo(2);
        assertThat(run("nonsense")).isEqualTo(2);
        assertThat(run("store", "--blocks", "many")).isEqualTo(2);
        assertThat(run("files", "--latency", "long")).isEqualTo(2);
        assertThat(run("placement", "--keys", "many")).isEqualTo(2);
        assertThat(run("scans", "--runs", "many")).isEqualTo(2);
        assertThat(run("scans", "--only", "nonsense")).isEqualTo(BenchmarkMain.FAILED);
        assertThat(error.toString(UTF_8)).contains("large_files, skewed_files, split_sizes");
    }

    @Test
    void testTooFewRuns()
    {
        assertThat(run("micro", "--runs", "1")).isEqualTo(BenchmarkMain.FAILED);
        assertThat(error.toString(UTF_8)).contains("fewer than 2 runs");
    }

    private int run(String... args)
    {
        return BenchmarkMain.run(new PrintStream(out, true, UTF_8), new PrintStream(error, true, UTF_8), args);
    }
}
