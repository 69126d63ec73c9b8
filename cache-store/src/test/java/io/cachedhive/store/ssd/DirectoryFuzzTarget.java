package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.protocol.wire.WireWriter;
import io.cachedhive.store.disk.DiskFile;
import io.cachedhive.store.file.FileTable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The recovery of a directory from a checkpoint and a journal, of which the input says what is in them.
 *
 * <p>The input is a row of sections: a byte for the kind, two for the length, and so many bytes. Kinds: 0 raw bytes for the checkpoint's file, 1
 * to 3 a chunk of the checkpoint of that type, 4 a journal record, 5 the end of a batch, 6 raw bytes over the journal from a position (its
 * first two bytes, in units of 16 bytes), 7 a chunk for the policy, or of an unknown type if its length is odd. Chunks and batches are written by the writers, so that they verify.
 *
 * <p>Whatever it is: recovery ends with outcomes and an index that agrees with itself, or says that it gave up.
 */
public final class DirectoryFuzzTarget
{
    static final Geometry GEOMETRY = Geometry.forCapacity(4 << 20, 64 << 10);
    static final Superblock SUPERBLOCK = new Superblock(
            SsdFormat.CURRENT.newest(),
            new Digest128(1, 2),
            7,
            3,
            3,
            new CacheWorkerId("worker"),
            GEOMETRY,
            Journal.firstLsn(GEOMETRY.journalBytes()),
            1);
    private static final int CHECKPOINT_BYTES = 128 << 10;
    private static final int MAX_RECORD_BYTES = 8 << 10;
    private static final int UNKNOWN_CHUNK = 6;
    private static final int[] OTHER_CHUNKS = {DirectoryRecovery.POLICY_CHUNK, DirectoryRecovery.TEXTS_CHUNK, DirectoryRecovery.FILES_CHUNK, UNKNOWN_CHUNK};
    private static final Set<Integer> FILE_CHUNKS = Set.of(DirectoryRecovery.TEXTS_CHUNK, DirectoryRecovery.FILES_CHUNK);

    private DirectoryFuzzTarget() {}

    public static void fuzzerTestOneInput(byte[] data)
            throws IOException
    {
        DiskFile journalFile = new BytesFile(new byte[(int) GEOMETRY.journalBytes()]);
        DiskFile checkpointFile = new BytesFile(new byte[CHECKPOINT_BYTES]);
        ReentrantLock lock = new ReentrantLock();
        Journal journal = new Journal(journalFile, SUPERBLOCK.storeId(), Optional.empty(), GEOMETRY.journalBytes(), lock, SUPERBLOCK.baseLsn(), SUPERBLOCK.baseLsn());
        // an odd number, so that it belongs to the second file
        Checkpoint.Writer checkpoint = new Checkpoint.Writer(checkpointFile, SUPERBLOCK.version(), CHECKPOINT_BYTES, SUPERBLOCK.storeId(), 1, Optional.empty());
        boolean hasCheckpoint = false;
        boolean hasFiles = false;
        ByteBuffer input = ByteBuffer.wrap(data);
        while (input.remaining() >= 3) {
            int kind = input.get() & 7;
            int length = Math.min(Short.toUnsignedInt(input.getShort()), input.remaining());
            byte[] bytes = new byte[length];
            input.get(bytes);
            switch (kind) {
                case 1, 2, 3, 7 -> {
                    WireWriter body = new WireWriter(length);
                    for (byte b : bytes) {
                        body.putByte(b);
                    }
                    int type = kind < 7 ? kind : OTHER_CHUNKS[length % OTHER_CHUNKS.length];
                    if (FILE_CHUNKS.contains(type) && !hasFiles) {
                        checkpoint.beginFiles();
                        hasFiles = true;
                    }
                    checkpoint.write(type, body);
                    hasCheckpoint = true;
                }
                case 4 -> {
                    lock.lock();
                    try {
                        journal.append(Arrays.copyOf(bytes, Math.min(length, MAX_RECORD_BYTES)));
                    }
                    finally {
                        lock.unlock();
                    }
                }
                case 5 -> {
                    if (journal.hasRoom()) {
                        journal.flush();
                    }
                }
                default -> {
                    // when everything is written
                }
            }
        }
        if (journal.hasRoom()) {
            journal.flushAndSeal();
        }
        if (hasCheckpoint) {
            if (!hasFiles) {
                checkpoint.beginFiles();
            }
            try {
                checkpoint.finish(SUPERBLOCK.run(), SUPERBLOCK.baseLsn(), false, 1, 1);
            }
            catch (IOException e) {
                // more than the file holds: there is none then
            }
        }
        damage(data, journalFile, checkpointFile);
        recover(journalFile, checkpointFile);
    }

    private static void damage(byte[] data, DiskFile journalFile, DiskFile checkpointFile)
            throws IOException
    {
        ByteBuffer input = ByteBuffer.wrap(data);
        while (input.remaining() >= 3) {
            int kind = input.get() & 7;
            int length = Math.min(Short.toUnsignedInt(input.getShort()), input.remaining());
            ByteBuffer section = input.slice(input.position(), length);
            input.position(input.position() + length);
            if (kind == 0) {
                checkpointFile.write(0, section);
            }
            else if (kind == 6 && length > 2) {
                long position = 16L * Short.toUnsignedInt(section.getShort());
                section.limit(Math.clamp(GEOMETRY.journalBytes() - position, 2, section.limit()));
                journalFile.write(position, section);
            }
        }
    }

    private static void recover(DiskFile journalFile, DiskFile checkpointFile)
            throws IOException
    {
        FileTable files = new FileTable();
        DirectoryContents contents = new DirectoryContents(GEOMETRY, files);
        SsdIndex index = contents.index();
        SsdSlab[] slabs = contents.slabs();
        RecoverySource source = new RecoverySource(
                Path.of("ssd"),
                SUPERBLOCK,
                SsdFormat.CURRENT,
                journalFile,
                List.of(new BytesFile(new byte[CHECKPOINT_BYTES]), checkpointFile),
                Optional.empty());
        DirectoryRecovery recovery = new DirectoryRecovery(source, contents, new boolean[GEOMETRY.slabCount()], Runnable::run, Runnable::run);
        DirectoryRecovery.Result result = recovery.recover();
        recovery.restoreAll();
        check(!result.outcomes().isEmpty(), "there is no outcome");
        check(!result.givenUp() || index.size() == 0, "it gave up, and has %s blocks".formatted(index.size()));
        check(result.nextLsn() >= SUPERBLOCK.baseLsn() && result.liveLsn() <= result.nextLsn(), "LSNs are wrong: " + result);
        Map<Integer, Integer> entriesBySlab = new HashMap<>();
        int used = 0;
        for (int entry = 0; entry < index.limit(); entry++) {
            if (!index.isUsed(entry)) {
                continue;
            }
            used++;
            SsdSlab slab = slabs[index.slab(entry)];
            check(slab.entry(index.extent(entry)) == entry, "extent and entry %s do not name each other".formatted(entry));
            check(Extent.units(index.length(entry)) <= GEOMETRY.sizeClasses().units(slab.sizeClass), "entry %s does not fit".formatted(entry));
            check(index.find(index.digestHigh(entry), index.digestLow(entry)) == entry, "entry %s is not found".formatted(entry));
            check(!files.byOrdinal(index.file(entry)).isDropped(), "the file of entry %s is dropped".formatted(entry));
            entriesBySlab.merge(slab.number, 1, Integer::sum);
        }
        check(used == index.size(), "%s entries are counted as %s".formatted(used, index.size()));
        for (SsdSlab slab : slabs) {
            check(slab.extentCount() - slab.freeCount() == entriesBySlab.getOrDefault(slab.number, 0), "extents of slab %s are lost".formatted(slab.number));
        }
    }

    private static void check(boolean condition, String message)
    {
        if (!condition) {
            throw new AssertionError(message);
        }
    }
}
