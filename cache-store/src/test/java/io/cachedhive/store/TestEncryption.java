package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.store.encryption.KeyFile;
import io.cachedhive.store.encryption.KeySource;
import io.cachedhive.store.quota.TableUsage;
import io.cachedhive.store.ssd.DirectoryCheck;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The files of an encrypted store, on a real disk.
 */
class TestEncryption
{
    private static final int BLOCK = 64 << 10;
    private static final int BLOCKS = 6;
    private static final String ETAG = "etag";
    // in the rows, and in the names of file and table
    private static final String WORD = "unmistakable";
    private static final FileVersion FILE = new FileVersion(
            TestingBlocks.ORIGIN,
            "s3://bucket/%s/part-1".formatted(WORD),
            // the last block is short
            5L * BLOCK + 700,
            1);

    @TempDir
    private Path directory;

    private StoreConfig plain;
    private KeySource key;
    private StoreConfig encrypted;

    @BeforeEach
    void configure()
            throws IOException
    {
        plain = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 4 << 20)
                .withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd")), new Capacity.Bytes(4 << 20))));
        key = TestingKeys.create(directory.resolve("key"));
        encrypted = plain.withEncryptionKey(Optional.of(key));
    }

    private static BlockStore open(StoreConfig config)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withClock(new FastClock()));
    }

    private static byte[] rows(int length)
    {
        return (WORD + ", ").repeat(length / WORD.length() + 1).substring(0, length).getBytes(US_ASCII);
    }

    private static void fill(BlockStore store)
            throws IOException
    {
        assertThat(store.bind(FILE, Optional.of(ETAG), false, "schema." + WORD)).isTrue();
        for (int i = 0; i < BLOCKS; i++) {
            BlockKey block = FILE.id().block(i);
            int length = FILE.blockLength(i, BLOCK);
            Fill fill = TestingBlocks.awaitFrame(() -> store.beginFill(block, length, ETags.digest(ETAG)));
            fill.buffer().put(rows(length));
            fill.commit().orElseThrow().close();
        }
        store.quotas().setQuota("schema." + WORD, OptionalLong.of(1 << 30));
        store.quotas().keep();
        store.ssd().drain();
        store.ssd().flush();
    }

    private static int hits(BlockStore store)
    {
        FileVersionId id = FILE.id();
        int hits = 0;
        for (int i = 0; i < BLOCKS; i++) {
            Optional<PinnedBlock> loaded = store.load(id.block(i));
            if (loaded.isPresent()) {
                try (PinnedBlock pinned = loaded.get()) {
                    assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(rows(FILE.blockLength(i, BLOCK)));
                }
                hits++;
            }
        }
        return hits;
    }

    private static List<RecoveryFinding> findings(BlockStore store)
    {
        return store.recovery().stream().map(RecoveryOutcome::finding).filter(finding -> finding != RecoveryFinding.MEMORY_FILE_RECLAIMED).toList();
    }

    /**
     * Returns the files in which the word is found, of SSD and state directories.
     */
    private List<String> filesWithWord()
            throws IOException
    {
        List<String> found = new ArrayList<>();
        for (String name : List.of("ssd", "state")) {
            try (Stream<Path> files = Files.list(directory.resolve(name))) {
                for (Path file : files.toList()) {
                    if (new String(Files.readAllBytes(file), ISO_8859_1).contains(WORD)) {
                        found.add(file.getFileName().toString());
                    }
                }
            }
        }
        return found;
    }

    @Test
    void noFileHasBytesOrNamesInClear()
            throws Exception
    {
        // the control: each kind of file would have them
        try (BlockStore store = open(plain)) {
            fill(store);
        }
        assertThat(filesWithWord())
                .contains("journal", "table-quotas")
                .anyMatch(name -> name.startsWith("checkpoint-"))
                .anyMatch(name -> name.startsWith("slab-"));

        try (BlockStore store = open(encrypted)) {
            // what was in clear is not used, and is gone
            assertThat(findings(store)).containsExactly(RecoveryFinding.NOT_ENCRYPTED);
            assertThat(hits(store)).isZero();
            assertThat(filesWithWord()).isEmpty();
            fill(store);
            store.ssd().checkpoint();
            store.flushes().dropFile(new FileVersion(FILE.origin(), FILE.location() + "-2", 1, 1).id());
            assertThat(hits(store)).isEqualTo(BLOCKS);
            assertThat(filesWithWord()).isEmpty();
        }
        assertThat(filesWithWord()).isEmpty();
    }

    @Test
    void restartKeepsTheBlocks()
            throws Exception
    {
        BlockStore killed = open(encrypted);
        killed.ssd().checkpoint();
        fill(killed);
        killed.abandon();
        try (BlockStore store = open(encrypted)) {
            assertThat(findings(store)).contains(RecoveryFinding.CRASH);
            assertThat(hits(store)).isEqualTo(BLOCKS);
            assertThat(store.quotas().usage()).extracting(TableUsage::table).containsExactly("schema." + WORD);
        }
        try (BlockStore store = open(encrypted)) {
            assertThat(findings(store)).containsExactly(RecoveryFinding.CLEAN_STOP);
            assertThat(hits(store)).isEqualTo(BLOCKS);
        }
        assertThat(DirectoryCheck.check(directory.resolve("ssd"), new LocalDisk(), Optional.of(key.read())))
                .noneMatch(finding -> finding.verdict() == DirectoryCheck.Verdict.DAMAGED)
                .anyMatch(finding -> finding.text().startsWith(BLOCKS + " verify"));
    }

    @Test
    void anotherKeyOrNoneIsRefusedAndChangesNothing()
            throws Exception
    {
        try (BlockStore store = open(encrypted)) {
            fill(store);
        }
        StoreConfig other = plain.withEncryptionKey(Optional.of(TestingKeys.create(directory.resolve("other"))));
        assertThatThrownBy(() -> open(other)).isInstanceOf(StoreException.class).hasMessageContaining("KEY_WRONG").hasMessageContaining("state");
        assertThatThrownBy(() -> open(plain)).isInstanceOf(StoreException.class).hasMessageContaining("KEY_MISSING").hasMessageContaining("state");
        // the same for a directory beside another state directory
        Path newState = directory.resolve("new-state");
        assertThatThrownBy(() -> open(StoreConfig.ramOnly(newState)
                .withBlockSize(BLOCK)
                .withRam(plain.ramDirectory(), plain.ramMaxSizeBytes())
                .withSsdDirectories(plain.ssdDirectories())))
                .isInstanceOf(StoreException.class).hasMessageContaining("KEY_MISSING").hasMessageContaining("SSD directory");
        assertThatThrownBy(() -> DirectoryCheck.check(directory.resolve("ssd"), new LocalDisk(), Optional.of(other.encryptionKey().orElseThrow().read())))
                .isInstanceOf(StoreException.class).hasMessageContaining("KEY_WRONG");
        try (BlockStore store = open(encrypted)) {
            assertThat(findings(store)).containsExactly(RecoveryFinding.CLEAN_STOP);
            assertThat(hits(store)).isEqualTo(BLOCKS);
        }
    }

    @Test
    void newKeyKeepsTheBlocks()
            throws Exception
    {
        try (BlockStore store = open(encrypted)) {
            fill(store);
        }
        KeySource newKey = TestingKeys.create(directory.resolve("new"));
        for (String name : List.of("ssd", "state")) {
            assertThat(KeyFile.rekey(directory.resolve(name), new LocalDisk(), key.read(), newKey.read())).isEqualTo(KeyFile.Outcome.OPENED);
        }
        assertThatThrownBy(() -> open(encrypted)).isInstanceOf(StoreException.class).hasMessageContaining("KEY_WRONG");
        try (BlockStore store = open(plain.withEncryptionKey(Optional.of(newKey)))) {
            assertThat(hits(store)).isEqualTo(BLOCKS);
        }
    }

    @Test
    void nothingIsReadableWithoutTheDataKey()
            throws Exception
    {
        try (BlockStore store = open(encrypted)) {
            fill(store);
        }
        Path keyFile = directory.resolve("ssd").resolve(KeyFile.NAME);
        byte[] content = Files.readAllBytes(keyFile);
        content[40] ^= 1;
        Files.write(keyFile, content);
        try (BlockStore store = open(encrypted)) {
            assertThat(findings(store)).containsExactly(RecoveryFinding.ENCRYPTION_KEY_CORRUPT);
            assertThat(hits(store)).isZero();
            fill(store);
        }
        try (BlockStore store = open(encrypted)) {
            assertThat(hits(store)).isEqualTo(BLOCKS);
        }
    }
}
