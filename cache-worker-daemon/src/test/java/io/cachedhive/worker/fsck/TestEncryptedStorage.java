package io.cachedhive.worker.fsck;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.InvalidationMessage;
import io.cachedhive.protocol.wire.PinMessage;
import io.cachedhive.protocol.wire.PolicyMessage.TableQuota;
import io.cachedhive.protocol.wire.StatusMessage.GetStats;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.protocol.wire.StatusMessage.Usage;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.Fill;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.store.encryption.KeySource;
import io.cachedhive.worker.startup.StartupException;
import io.cachedhive.worker.testing.TestingWorker;
import io.cachedhive.worker.testing.WireClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The files of a whole cache worker, and the tools for them.
 */
class TestEncryptedStorage
{
    // in the rows, and in the names of tables and files
    private static final String WORD = "unmistakable";
    private static final String TABLE = "schema." + WORD;
    private static final String LOCATION = "s3://lake/%s/".formatted(WORD);
    private static final String ETAG = "etag";
    private static final int BLOCKS = 4;
    private static final List<String> STATE_FILES = List.of("counters", "pins", "table-quotas", "tombstones");

    @TempDir
    private Path directory;

    private Path config;
    private TestingWorker worker;

    @BeforeEach
    void configure()
            throws IOException
    {
        worker = new TestingWorker(directory)
                .withSsd(64 << 20)
                .withOrigin("default", Map.of("s3.endpoint", "http://127.0.0.1:1", "s3.region", "us-east-1", "s3.aws-access-key", "key", "s3.aws-secret-key", "secret"));
        config = directory.resolve("config.properties");
        configureKey("key");
    }

    @AfterEach
    void stop()
    {
        worker.close();
    }

    private KeySource key(String name)
            throws IOException
    {
        Path file = directory.resolve(name);
        if (!Files.exists(file)) {
            byte[] key = new byte[32];
            new SecureRandom().nextBytes(key);
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(file, HexFormat.of().formatHex(key));
        }
        return new KeySource.OfFile(file);
    }

    private void configureKey(String name)
            throws IOException
    {
        // relative paths begin at the data directory
        Files.writeString(config, """
                cache.ssd.directories=ssd
                cache.ssd.max-sizes=64MB
                cache.state-directory=state
                cache.ram.directory=ram
                cache.encryption.key-file=%s
                """.formatted(name));
    }

    private InstalledStorage storage()
            throws Exception
    {
        Files.createDirectories(directory.resolve("ram"));
        return InstalledStorage.load(config, directory);
    }

    private record Result(int exitCode, String output) {}

    private interface Tool
    {
        int run(PrintStream out, PrintStream err);
    }

    private static Result run(Tool tool)
    {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(output, true, UTF_8);
        int exitCode = tool.run(stream, stream);
        return new Result(exitCode, output.toString(UTF_8));
    }

    private Result scrub(String... args)
            throws Exception
    {
        InstalledStorage storage = storage();
        return run((out, err) -> Scrub.run(List.of(args), Optional.of(storage), out, err));
    }

    private Result rekey(String... args)
            throws Exception
    {
        InstalledStorage storage = storage();
        return run((out, err) -> Rekey.run(List.of(args), storage, out, err));
    }

    private FileVersion file(String location)
    {
        return new FileVersion(worker.originId("default"), location, (long) BLOCKS * BLOCK_SIZE, 1_700_000_000_000L);
    }

    private static byte[] rows()
    {
        return (WORD + ", ").repeat(BLOCK_SIZE).substring(0, BLOCK_SIZE).getBytes(US_ASCII);
    }

    /**
     * Leaves the word in every kind of file.
     */
    private void use()
            throws Exception
    {
        long now = System.currentTimeMillis();
        try (WireClient client = worker.connect()) {
            client.send(new TableQuota(TABLE, 1 << 30));
            assertThat(client.ask(new Usage(new Digest128(1, 2), 1, Map.of(TABLE, Map.of("requests", 7L)), List.of()))).isEqualTo(new Ack());
            assertThat(client.ask(new InvalidationMessage.Flush(List.of(new Tombstone(new Digest128(3, 4), worker.originId("default"), LOCATION + "flushed/", now)), true)))
                    .isInstanceOf(InvalidationMessage.Flushed.class);
            Pin pin = new Pin(new Digest128(5, 6), worker.originId("default"), LOCATION + "pinned/", TABLE, Optional.empty(), true, now);
            assertThat(client.ask(new PinMessage.SetPins(List.of(pin)))).isEqualTo(new Ack());
        }
        BlockStore store = worker.service().store();
        FileVersion file = file(LOCATION + "part-1");
        assertThat(store.bind(file, Optional.of(ETAG), false, TABLE)).isTrue();
        for (int i = 0; i < BLOCKS; i++) {
            BlockKey block = file.id().block(i);
            Fill fill = store.beginFill(block, BLOCK_SIZE, ETags.digest(ETAG)).orElseThrow();
            fill.buffer().put(rows());
            fill.commit().ifPresent(PinnedBlock::close);
        }
        worker.stop();
    }

    private int hits()
    {
        int hits = 0;
        for (int i = 0; i < BLOCKS; i++) {
            Optional<PinnedBlock> loaded = worker.service().store().load(file(LOCATION + "part-1").id().block(i));
            if (loaded.isPresent()) {
                try (PinnedBlock block = loaded.get()) {
                    byte[] bytes = new byte[block.payload().remaining()];
                    block.payload().get(block.payload().position(), bytes);
                    assertThat(bytes).isEqualTo(rows());
                }
                hits++;
            }
        }
        return hits;
    }

    private void assertStateIsThere()
    {
        try (WireClient client = worker.connect()) {
            assertThat(((Stats) client.ask(new GetStats())).counters()).containsEntry("requests", 7L);
            assertThat(((InvalidationMessage.Tombstones) client.ask(new InvalidationMessage.GetTombstones(new Digest128(0, 0), new Digest128(0, 0)))).tombstones()).hasSize(1);
            assertThat(((PinMessage.Pins) client.ask(new PinMessage.GetPins(new Digest128(0, 0), new Digest128(0, 0), false))).pins()).hasSize(1);
        }
        assertThat(worker.service().store().quotas().usage()).hasSize(1);
    }

    @Test
    void wordIsInNoFileOfAnEncryptedWorker()
            throws Exception
    {
        // the control: it is in all of them
        worker.start();
        use();
        Result clear = scrub("--find", WORD);
        assertThat(clear.exitCode).isEqualTo(Scrub.EXIT_FOUND);
        assertThat(clear.output).contains("slab-", "checkpoint-").contains(STATE_FILES);

        // and in none as soon as a worker with a key has them
        worker.withEncryptionKey(Optional.of(key("key"))).start();
        assertThat(hits()).isZero();
        Result started = scrub("--find", WORD);
        assertThat(started.output).contains("not found");
        assertThat(started.exitCode).isEqualTo(Scrub.EXIT_NOT_FOUND);
        use();
        Result encrypted = scrub("--find", WORD);
        assertThat(encrypted.output).contains("not found");
        assertThat(encrypted.exitCode).isEqualTo(Scrub.EXIT_NOT_FOUND);
        for (String name : STATE_FILES) {
            assertThat(directory.resolve("state").resolve(name)).isNotEmptyFile();
        }

        worker.start();
        assertThat(hits()).isEqualTo(BLOCKS);
        assertStateIsThere();
    }

    @Test
    void newKeyKeepsBlocksAndState()
            throws Exception
    {
        worker.withEncryptionKey(Optional.of(key("key"))).start();
        configureKey("new-key");
        String oldKey = directory.resolve("key").toString();
        key("new-key");
        assertThat(rekey("--old-key-file", oldKey).output).contains("in use by a cache worker");
        use();
        key("foreign-key");
        Result foreign = rekey("--old-key-file", directory.resolve("foreign-key").toString());
        assertThat(foreign.exitCode).isEqualTo(Rekey.EXIT_REFUSED);
        assertThat(foreign.output).contains("neither of the two keys");

        assertThat(rekey("--old-key-file", oldKey).exitCode).isEqualTo(Rekey.EXIT_DONE);
        // again, as after an interrupted one
        assertThat(rekey("--old-key-file", oldKey).exitCode).isEqualTo(Rekey.EXIT_DONE);
        assertThatThrownBy(worker::start).isInstanceOf(StartupException.class).hasMessageContaining("KEY_WRONG");
        worker.withEncryptionKey(Optional.of(key("new-key"))).start();
        assertThat(hits()).isEqualTo(BLOCKS);
        assertStateIsThere();
    }

    @Test
    void wrongKeyDoesNotStartAndKeepsEverything()
            throws Exception
    {
        worker.withEncryptionKey(Optional.of(key("key"))).start();
        use();
        worker.withEncryptionKey(Optional.of(key("foreign-key")));
        assertThatThrownBy(worker::start).isInstanceOf(StartupException.class).hasMessageContaining("KEY_WRONG");
        worker.withEncryptionKey(Optional.empty());
        assertThatThrownBy(worker::start).isInstanceOf(StartupException.class).hasMessageContaining("KEY_MISSING");
        worker.withEncryptionKey(Optional.of(key("key"))).start();
        assertThat(hits()).isEqualTo(BLOCKS);
        assertStateIsThere();
    }

    @Test
    void fsckReadsTheKeyFromTheConfiguration()
            throws Exception
    {
        worker.withEncryptionKey(Optional.of(key("key"))).start();
        use();
        String ssd = directory.resolve("ssd").toString();
        String before = System.getProperty("config");
        String dataBefore = System.getProperty("node.data-dir");
        System.setProperty("config", config.toString());
        System.setProperty("node.data-dir", directory.toString());
        try {
            Result checked = run((out, err) -> Fsck.run(List.of(ssd), out, err));
            assertThat(checked.output).contains("is clean").contains(BLOCKS + " verify");
            assertThat(checked.exitCode).isEqualTo(0);
            configureKey("foreign-key");
            key("foreign-key");
            Result refused = run((out, err) -> Fsck.run(List.of(ssd), out, err));
            assertThat(refused.output).contains("KEY_WRONG");
            assertThat(refused.exitCode).isEqualTo(2);
        }
        finally {
            restore("config", before);
            restore("node.data-dir", dataBefore);
        }
    }

    private static void restore(String property, String value)
    {
        if (value == null) {
            System.clearProperty(property);
        }
        else {
            System.setProperty(property, value);
        }
    }

    @Test
    void scrubFindsAWordInAFileThatIsReplacedMeanwhile()
            throws Exception
    {
        Path files = Files.createDirectories(directory.resolve("replaced"));
        Files.writeString(files.resolve("pins"), WORD);
        AtomicBoolean stopped = new AtomicBoolean();
        Callable<Void> replacing = () -> {
            while (!stopped.get()) {
                Files.writeString(files.resolve("pins.new"), WORD);
                Files.move(files.resolve("pins.new"), files.resolve("pins"), ATOMIC_MOVE);
            }
            return null;
        };
        try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
            Future<Void> replaced = executor.submit(replacing);
            try {
                for (int i = 0; i < 50; i++) {
                    Result result = scrub("--find", WORD, files.toString());
                    assertThat(result.output).contains("found at byte 0");
                    assertThat(result.exitCode).isEqualTo(Scrub.EXIT_FOUND);
                }
                for (int i = 0; i < 50; i++) {
                    assertThat(scrub("--find", WORD + "!", files.toString()).exitCode).isEqualTo(Scrub.EXIT_NOT_FOUND);
                }
            }
            finally {
                stopped.set(true);
            }
            replaced.get();
        }
    }

    @Test
    void scrubFindsAWordAcrossItsBuffers()
            throws Exception
    {
        Path file = directory.resolve("file");
        for (int position : new int[] {0, 1, (1 << 20) - 5, (1 << 20) - 1, 1 << 20, (2 << 20) - 6}) {
            byte[] bytes = new byte[2 << 20];
            System.arraycopy(WORD.getBytes(US_ASCII), 0, bytes, Math.min(position, bytes.length - WORD.length()), WORD.length());
            Files.write(file, bytes);
            Result result = scrub("--find", WORD, file.toString());
            assertThat(result.output).contains("found at byte " + Math.min(position, bytes.length - WORD.length()));
            assertThat(result.exitCode).isEqualTo(Scrub.EXIT_FOUND);
        }
        Path link = Files.createSymbolicLink(directory.resolve("link"), Files.createDirectories(directory.resolve("linked")));
        Files.writeString(directory.resolve("linked").resolve("file"), WORD);
        assertThat(scrub("--find", WORD, link.toString()).exitCode).isEqualTo(Scrub.EXIT_FOUND);
        assertThat(scrub("--find", WORD + "!", file.toString()).exitCode).isEqualTo(Scrub.EXIT_NOT_FOUND);
        assertThat(scrub("--find", WORD, directory.resolve("missing").toString()).exitCode).isEqualTo(Scrub.EXIT_NOT_SEARCHED);
        assertThat(scrub(WORD).exitCode).isEqualTo(Scrub.EXIT_NOT_SEARCHED);
    }
}
