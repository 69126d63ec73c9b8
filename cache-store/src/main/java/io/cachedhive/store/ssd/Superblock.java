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
 * The identity of a directory: its owner, its geometry and its valid checkpoints. Written to two {@link HeaderPage}s,
 * one after the other; the valid page with the higher update number counts. So neither a torn write nor damage to one
 * page brings back an older state.
 *
 * @param version of the format of future writes to the directory
 * @param storeId created by formatting; older contents do not verify against it
 * @param update number of writes of the superblock
 * @param run number of times that the worker's store was opened; a directory with a lower run than the others missed
 *         drops
 * @param usedRun the last run that used the store, as far as this directory knows; a run that failed while opening the
 *         directories dropped nothing, so that the others missed nothing
 * @param baseLsn start of the replay without a valid checkpoint, at which the directory was empty or invalidated
 * @param minCheckpoint checkpoints with lower numbers are older than that and invalid
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
     * @param doubt why there is no valid page, or that one of the two pages is damaged
     */
    record Read(Optional<Superblock> superblock, Optional<RecoveryFinding> doubt) {}

    /**
     * @param format versions to accept
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
                        // the checksum is correct, so a faulty program wrote the page
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
     * Writes both pages; durable on return.
     *
     * @return the superblock as written
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
     * Returns a copy for a run being opened.
     */
    Superblock withRun(long run)
    {
        return new Superblock(version, storeId, update, run, usedRun, workerId, geometry, baseLsn, minCheckpoint);
    }

    /**
     * Returns a copy that marks the run as used.
     */
    Superblock used()
    {
        return new Superblock(version, storeId, update, run, run, workerId, geometry, baseLsn, minCheckpoint);
    }

    /**
     * Returns a copy that sets the version of future writes.
     */
    Superblock withVersion(int version)
    {
        return new Superblock(version, storeId, update, run, usedRun, workerId, geometry, baseLsn, minCheckpoint);
    }

    /**
     * Returns a copy that invalidates all earlier contents and starts the journal at the LSN.
     */
    Superblock withBase(long baseLsn, long minCheckpoint)
    {
        return new Superblock(version, storeId, update, run, usedRun, workerId, geometry, baseLsn, minCheckpoint);
    }
}
