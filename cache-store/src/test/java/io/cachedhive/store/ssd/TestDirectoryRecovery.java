package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.protocol.wire.WireWriter;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.disk.DiskFile;
import io.cachedhive.store.file.FileImage;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

import static io.cachedhive.store.ssd.DirectoryFuzzTarget.GEOMETRY;
import static io.cachedhive.store.ssd.DirectoryFuzzTarget.SUPERBLOCK;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checkpoints that no writer leaves alone, or only when it was killed at a certain moment.
 */
class TestDirectoryRecovery
{
    private static final FileVersion FILE = new FileVersion(new OriginId(new Digest128(1, 2)), "s3://bucket/file", 10 * 64 << 10, 1234);
    private static final int CHECKPOINT_BYTES = 64 << 10;

    private final DiskFile journalFile = new BytesFile(new byte[(int) GEOMETRY.journalBytes()]);
    private final DiskFile checkpointFile = new BytesFile(new byte[CHECKPOINT_BYTES]);
    // begins with their age
    private final WireWriter blocks = new WireWriter(1024).putByte(0);
    private final WireWriter texts = new WireWriter(1024);
    private final WireWriter files = new WireWriter(1024);
    // of the checkpoint's files
    private final FileTable source = new FileTable();
    private final FileImage.Writer image = new FileImage.Writer(source);
    private final FileTable table = new FileTable();
    private final DirectoryContents contents = new DirectoryContents(GEOMETRY, table);
    private final SsdIndex index = contents.index();

    /**
     * Dropped and bound anew while the checkpoint was written: what the first binding had does not come back, also if the drop was not yet in the
     * journal when the process was killed.
     */
    @Test
    void laterBindingCounts()
            throws IOException
    {
        checkLaterBinding(Optional.of("same"));
    }

    @Test
    void laterBindingToAnotherEtagCounts()
            throws IOException
    {
        checkLaterBinding(Optional.of("other"));
    }

    private void checkLaterBinding(Optional<String> secondEtag)
            throws IOException
    {
        addBlock(0, 5);
        addFile(5, Optional.of("same"));
        addBlock(1, 9);
        addFile(9, secondEtag);
        assertThat(recover()).extracting(RecoveryOutcome::finding).containsOnly(RecoveryFinding.CRASH);
        assertThat(find(0)).isEmpty();
        assertThat(find(1).orElseThrow().metadata().etag()).isEqualTo(secondEtag);
    }

    @Test
    void ordinalsMayHaveGaps()
            throws IOException
    {
        addBlock(0, 100_000_000);
        addBlock(1, 100_000_001);
        addFile(100_000_000, Optional.empty());
        assertThat(recover()).extracting(RecoveryOutcome::finding).containsOnly(RecoveryFinding.CRASH);
        assertThat(find(0)).isPresent();
        // of no file
        assertThat(find(1)).isEmpty();
    }

    @Test
    void ordinalIsOfOneFile()
            throws IOException
    {
        addBlock(0, 5);
        addFile(5, Optional.of("a"));
        addFile(5, Optional.of("a"));
        assertThat(recover()).extracting(RecoveryOutcome::finding).contains(RecoveryFinding.CHECKPOINT_CORRUPT);
        assertThat(index.size()).isZero();
    }

    private void addBlock(int number, int ordinal)
    {
        BlockKey key = FILE.id().block(number);
        blocks.putLong(key.high()).putLong(key.low()).putLong(7 + number)
                .putInt(0).putByte(0).putInt(number).putInt(100).putInt(ordinal).putByte(1).putByte(BlockClass.HIGH.ordinal()).putInt(-1);
    }

    private void addFile(int ordinal, Optional<String> etag)
    {
        source.holdOrdinals();
        StoredFile file = source.add(FILE.id(), new FileMetadata(FILE, etag, false, "a.b"));
        WireWriter record = new WireWriter(256);
        image.write(file, texts, record);
        source.drop(file);
        ByteBuffer bytes = record.finish();
        // in place of its ordinal in the table
        files.putInt(ordinal);
        bytes.position(Integer.BYTES);
        while (bytes.hasRemaining()) {
            files.putByte(bytes.get());
        }
    }

    private List<RecoveryOutcome> recover()
            throws IOException
    {
        ReentrantLock lock = new ReentrantLock();
        Journal journal = new Journal(journalFile, SUPERBLOCK.storeId(), Optional.empty(), GEOMETRY.journalBytes(), lock, SUPERBLOCK.baseLsn(), SUPERBLOCK.baseLsn());
        journal.flushAndSeal();
        Checkpoint.Writer writer = new Checkpoint.Writer(checkpointFile, SUPERBLOCK.version(), CHECKPOINT_BYTES, SUPERBLOCK.storeId(), 1, Optional.empty());
        writer.write(DirectoryRecovery.SLABS_CHUNK, new WireWriter(8).putInt(0).putByte(0));
        writer.write(DirectoryRecovery.BLOCKS_CHUNK, blocks);
        writer.beginFiles();
        writer.write(DirectoryRecovery.TEXTS_CHUNK, texts);
        writer.write(DirectoryRecovery.FILES_CHUNK, files);
        writer.finish(SUPERBLOCK.run(), SUPERBLOCK.baseLsn(), false, 2, 2);
        RecoverySource recoverySource = new RecoverySource(
                Path.of("ssd"),
                SUPERBLOCK,
                SsdFormat.CURRENT,
                journalFile,
                List.of(new BytesFile(new byte[CHECKPOINT_BYTES]), checkpointFile),
                Optional.empty());
        DirectoryRecovery recovery = new DirectoryRecovery(recoverySource, contents, new boolean[GEOMETRY.slabCount()], Runnable::run, Runnable::run);
        List<RecoveryOutcome> outcomes = recovery.recover().outcomes();
        recovery.restoreAll();
        return outcomes;
    }

    private Optional<StoredFile> find(int number)
    {
        BlockKey key = FILE.id().block(number);
        int entry = index.find(key.high(), key.low());
        return entry == SsdIndex.NONE ? Optional.empty() : Optional.of(table.byOrdinal(index.file(entry)));
    }
}
