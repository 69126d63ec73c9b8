package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.protocol.wire.WireWriter;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.disk.DiskFile;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * What a directory is: whose, of which geometry, and which of its checkpoints may be believed. Two {@link HeaderPage}s that say the same, written
 * one after the other, of which the valid one with the higher update number counts: neither a torn write nor damage to one of them brings back
 * what was said before.
 *
 * @param version of the format of all that is written into the directory
 * @param storeId made when the directory was formatted: what lies in it from before does not verify
 * @param update counts the writes of the superblock
 * @param run counts the times that the worker's store was opened, the same in all of its directories: one that missed a run knows nothing
 *         of what was dropped meanwhile
 * @param usedRun the last run in which the store was used, as far as this directory knows: what was opened no further than to the superblocks
 *         of some directories dropped nothing, so that the others missed nothing
 * @param baseLsn from where the journal tells everything, if no checkpoint is valid: when this was written, the directory was empty, or
 *         what it had was given up
 * @param minCheckpoint checkpoints with lower numbers were written before that, and are not to be believed
 */
record Superblock(int version, Digest128 storeId, long update, long run, long usedRun, CacheWorkerId workerId, Geometry geometry, long baseLsn, long minCheckpoint)
{
    static final int PAGE_BYTES = HeaderPage.BYTES;

    private static final long MAGIC = 0x52_45_50_55_53_56_48_43L; // "CHVSUPER"

    Superblock
    {
        requireNonNull(storeId, "storeId is null");
        requireNonNull(workerId, "workerId is null");
        requireNonNull(geometry, "geometry is null");
        if (version < 1 || update < 0 || run < 0 || usedRun < 0 || usedRun > run || baseLsn < 0 || baseLsn > Journal.MAX_LSN || minCheckpoint < 0) {
            throw new IllegalArgumentException(
                    "superblock has a number that is too low or too high: %s, %s, %s, %s, %s, %s".formatted(version, update, run, usedRun, baseLsn, minCheckpoint));
        }
    }

    /**
     * @param superblock the newest valid page
     * @param doubt if there is none, why; or that one of the two is damaged
     */
    record Read(Optional<Superblock> superblock, Optional<RecoveryFinding> doubt) {}

    /**
     * @param format what is read
     */
    static Read read(DiskFile file, SsdFormat format)
            throws IOException
    {
        ByteBuffer buffer = ByteBuffer.allocateDirect(2 * PAGE_BYTES);
        file.read(0, buffer);
        buffer.flip();
        Superblock newest = null;
        boolean damaged = buffer.limit() < 2 * PAGE_BYTES;
        RecoveryFinding doubt = RecoveryFinding.SUPERBLOCK_CORRUPT;
        for (int position = 0; position < buffer.limit(); position += PAGE_BYTES) {
            HeaderPage.Decoded page = HeaderPage.decode(buffer.duplicate().position(position), MAGIC, format.oldest(), format.newest());
            switch (page.status()) {
                case TOO_OLD -> doubt = RecoveryFinding.SUPERBLOCK_TOO_OLD;
                case TOO_NEW -> doubt = RecoveryFinding.SUPERBLOCK_TOO_NEW;
                case EMPTY -> {}
                case CORRUPT -> damaged = true;
                case VALID -> {
                    try {
                        Superblock superblock = decode(page.version(), page.body().orElseThrow());
                        if (newest == null || superblock.update > newest.update) {
                            newest = superblock;
                        }
                    }
                    catch (WireException | IllegalArgumentException e) {
                        // the checksum was right: written by a program that had it wrong
                        damaged = true;
                    }
                }
            }
        }
        if (newest == null) {
            return new Read(Optional.empty(), Optional.of(doubt));
        }
        return new Read(Optional.of(newest), damaged ? Optional.of(RecoveryFinding.SUPERBLOCK_CORRUPT) : Optional.empty());
    }

    private static Superblock decode(int version, WireReader reader)
            throws WireException
    {
        Digest128 storeId = new Digest128(reader.getLong(), reader.getLong());
        long update = reader.getLong();
        long run = reader.getLong();
        Superblock superblock = new Superblock(
                version,
                storeId,
                update,
                run,
                reader.getLong(),
                new CacheWorkerId(reader.getString()),
                new Geometry(reader.getInt(), reader.getInt(), reader.getInt(), reader.getLong(), reader.getLong()),
                reader.getLong(),
                reader.getLong());
        reader.expectEnd();
        return superblock;
    }

    /**
     * Writes this to both pages; durable on return.
     *
     * @return what was written
     */
    Superblock writeTo(DiskFile file)
            throws IOException
    {
        return writeNext(file).writeNext(file);
    }

    private Superblock writeNext(DiskFile file)
            throws IOException
    {
        Superblock next = new Superblock(version, storeId, update + 1, run, usedRun, workerId, geometry, baseLsn, minCheckpoint);
        WireWriter body = new WireWriter(256)
                .putLong(next.storeId.high())
                .putLong(next.storeId.low())
                .putLong(next.update)
                .putLong(next.run)
                .putLong(next.usedRun)
                .putString(next.workerId.value())
                .putInt(next.geometry.blockSizeBytes())
                .putInt(next.geometry.unitsPerSlab())
                .putInt(next.geometry.slabCount())
                .putLong(next.geometry.journalBytes())
                .putLong(next.geometry.checkpointBytes())
                .putLong(next.baseLsn)
                .putLong(next.minCheckpoint);
        file.write(next.update % 2 * PAGE_BYTES, HeaderPage.encode(MAGIC, version, body));
        file.sync();
        return next;
    }

    /**
     * Of a run that is being opened.
     */
    Superblock withRun(long run)
    {
        return new Superblock(version, storeId, update, run, usedRun, workerId, geometry, baseLsn, minCheckpoint);
    }

    /**
     * Of the same run, which is going to be used.
     */
    Superblock used()
    {
        return new Superblock(version, storeId, update, run, run, workerId, geometry, baseLsn, minCheckpoint);
    }

    /**
     * What is written from now on is of another version.
     */
    Superblock withVersion(int version)
    {
        return new Superblock(version, storeId, update, run, usedRun, workerId, geometry, baseLsn, minCheckpoint);
    }

    /**
     * Nothing from before counts: the journal begins anew at the LSN.
     */
    Superblock withBase(long baseLsn, long minCheckpoint)
    {
        return new Superblock(version, storeId, update, run, usedRun, workerId, geometry, baseLsn, minCheckpoint);
    }
}
