package io.cachedhive.worker.fsck;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.Fill;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

class TestFsck
{
    private static final int BLOCK = 64 << 10;
    private static final int BLOCKS = 20;

    @TempDir
    private Path directory;

    private Path ssd;
    private StoreConfig config;

    @BeforeEach
    void makeDirectories()
            throws IOException
    {
        ssd = Files.createDirectories(directory.resolve("ssd"));
        config = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 16 << 20)
                .withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.Bytes(12 << 20))));
    }

    private void fill()
            throws Exception
    {
        FileVersion file = new FileVersion(new OriginId(new Digest128(1, 2)), "s3://bucket/table/part-1", (long) BLOCKS * BLOCK, 1_700_000_000_000L);
        try (BlockStore store = BlockStore.open(config, StoreEnvironment.system())) {
            store.bind(file, Optional.of("etag"), false, "schema.table");
            for (int i = 0; i < BLOCKS; i++) {
                BlockKey key = file.id().block(i);
                Fill fill = store.beginFill(key, BLOCK, ETags.digest("etag")).orElseThrow();
                byte[] bytes = new byte[BLOCK];
                Arrays.fill(bytes, (byte) (i + 1));
                fill.buffer().put(bytes);
                fill.commit().ifPresent(PinnedBlock::close);
            }
        }
    }

    private record Result(int exitCode, List<String> out, String err)
    {
        List<String> damages()
        {
            return out.stream().filter(line -> line.contains(" damaged ")).filter(line -> !line.startsWith("/")).toList();
        }
    }

    private static Result fsck(Object... args)
    {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exitCode = Fsck.run(Arrays.stream(args).map(Object::toString).toList(), new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8));
        return new Result(exitCode, out.toString(UTF_8).lines().toList(), err.toString(UTF_8));
    }

    private Map<String, String> snapshot()
            throws IOException
    {
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> paths = Files.list(ssd)) {
            for (Path path : paths.filter(path -> !path.getFileName().toString().equals("lock")).toList()) {
                FileTime modified = Files.getLastModifiedTime(path);
                files.put(path.getFileName().toString(), "%s %s %s".formatted(modified, Files.size(path), Arrays.hashCode(Files.readAllBytes(path))));
            }
        }
        return files;
    }

    private void flip(String name, long position)
            throws IOException
    {
        try (RandomAccessFile file = new RandomAccessFile(ssd.resolve(name).toFile(), "rw")) {
            file.seek(position);
            int value = file.read();
            file.seek(position);
            file.write(value ^ 4);
        }
    }

    @Test
    void cleanDirectory()
            throws Exception
    {
        fill();
        Map<String, String> before = snapshot();
        Result result = fsck(ssd);
        assertThat(result.err).isEmpty();
        assertThat(result.exitCode).isEqualTo(0);
        assertThat(result.out)
                .anyMatch(line -> line.matches("superblock +ok +cache worker \\S+, store \\S+, run 1, blocks of 64kB"))
                .anyMatch(line -> line.matches("checkpoint-. +ok +number 1, of run 1, at a clean stop: 20 blocks of 1 files in \\d+ chunks, all verify"))
                .anyMatch(line -> line.matches("recovery +ok +CLEAN_STOP: .*"))
                .anyMatch(line -> line.matches("blocks +ok +20 verify, 1.25MB"));
        assertThat(result.out.getLast()).isEqualTo(ssd + " is clean");
        assertThat(snapshot()).describedAs("nothing is changed").isEqualTo(before);
    }

    @Test
    void damagedBlock()
            throws Exception
    {
        fill();
        byte[] slab = Files.readAllBytes(ssd.resolve("slab-00000"));
        // in the middle of the first block
        assertThat(slab[1000]).isEqualTo((byte) 1);
        flip("slab-00000", 1000);
        Map<String, String> before = snapshot();
        Result result = fsck(ssd);
        assertThat(result.exitCode).isEqualTo(1);
        assertThat(result.out).anyMatch(line -> line.matches("blocks +ok +19 verify, .*"));
        assertThat(result.damages())
                .hasSize(2)
                .anyMatch(line -> line.matches("blocks +damaged +1 do not verify or cannot be read"))
                .anyMatch(line -> line.matches("blocks +damaged +block [0-9a-f]+ of s3://bucket/table/part-1, at 0: does not verify"));
        assertThat(result.out.getLast()).startsWith(ssd + " is damaged (2 findings)");
        assertThat(snapshot()).describedAs("nothing is repaired").isEqualTo(before);
    }

    @Test
    void damagedMetadata()
            throws Exception
    {
        fill();
        flip("superblock", 20);
        assertThat(fsck(ssd).damages()).singleElement().asString().contains("one of its two pages does not verify");
        flip("superblock", 20);

        String checkpoint = Files.readAllBytes(ssd.resolve("checkpoint-1"))[0] != 0 ? "checkpoint-1" : "checkpoint-0";
        flip(checkpoint, 4096 + 100);
        assertThat(fsck(ssd).damages())
                .anyMatch(line -> line.matches(checkpoint + " +damaged +number 1, of run 1: chunk \\d of a checkpoint does not verify"));
        flip(checkpoint, 4096 + 100);

        try (RandomAccessFile file = new RandomAccessFile(ssd.resolve("journal").toFile(), "rw")) {
            file.setLength(file.length() - 1);
        }
        assertThat(fsck(ssd).damages())
                .anyMatch(line -> line.matches("journal +damaged +it has \\d+ bytes, not \\d+"))
                .noneMatch(line -> line.startsWith("blocks"));

        Files.delete(ssd.resolve("slab-00000"));
        Result result = fsck(ssd);
        assertThat(result.damages()).anyMatch(line -> line.matches("slab-00000 +damaged +missing"));
        assertThat(result.exitCode).isEqualTo(1);

        Files.delete(ssd.resolve("superblock"));
        result = fsck(ssd);
        assertThat(result.damages()).singleElement().asString().contains("missing: a start begins empty");
        assertThat(result.exitCode).isEqualTo(1);
    }

    @Test
    void refusals()
            throws Exception
    {
        try (BlockStore _ = BlockStore.open(config, StoreEnvironment.system())) {
            Result result = fsck(ssd);
            assertThat(result.exitCode).isEqualTo(2);
            assertThat(result.out).isEmpty();
            assertThat(result.err).isEqualTo("SSD directory %s is in use by a cache worker: stop it first\n".formatted(ssd));
        }
        assertThat(fsck(ssd).exitCode).isEqualTo(0);

        Path other = Files.createDirectories(directory.resolve("other"));
        assertThat(fsck(other)).isEqualTo(new Result(2, List.of(), "%s is not an SSD directory of a cache worker: name one of cache.ssd.directories\n".formatted(other)));
        assertThat(other).isEmptyDirectory();
        Path missing = directory.resolve("missing");
        assertThat(fsck(missing)).isEqualTo(new Result(2, List.of(), "%s is not a directory: name one of cache.ssd.directories\n".formatted(missing)));
        for (Object[] args : new Object[][] {{}, {ssd, ssd}, {"--repair"}}) {
            assertThat(fsck(args).exitCode).isEqualTo(2);
            assertThat(fsck(args).err).startsWith("usage: cache-worker fsck [--etc-dir DIRECTORY]");
        }
    }
}
