package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.slab.SizeClasses;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;

import static java.util.Objects.requireNonNull;

/**
 * Takes the blocks of files that were dropped out of a directory, and overwrites where they were if that is asked for. Takes the lock for some blocks at a time.
 */
final class DirectoryDrops
{
    private static final int DROPPED_AT_ONCE = 1024;
    private static final int WIPED_AT_ONCE = 64;

    private final Geometry geometry;
    private final SizeClasses sizeClasses;
    private final DirectoryContents contents;
    private final SsdIndex index;
    private final DirectoryPolicy policy;
    private final DirectoryHealth health;
    private final Journal journal;
    private final WatchedDisk disk;
    private final DirectoryCheckpoints checkpoints;
    private final IntConsumer remover;
    private final ReentrantLock lock;

    /**
     * @param remover removes the block with an entry; called under the lock
     */
    DirectoryDrops(
            Geometry geometry,
            DirectoryContents contents,
            DirectoryHealth health,
            Journal journal,
            WatchedDisk disk,
            DirectoryCheckpoints checkpoints,
            IntConsumer remover,
            ReentrantLock lock)
    {
        this.geometry = requireNonNull(geometry, "geometry is null");
        this.sizeClasses = geometry.sizeClasses();
        this.contents = requireNonNull(contents, "contents is null");
        this.index = contents.index();
        this.policy = contents.policy();
        this.health = requireNonNull(health, "health is null");
        this.journal = requireNonNull(journal, "journal is null");
        this.disk = requireNonNull(disk, "disk is null");
        this.checkpoints = requireNonNull(checkpoints, "checkpoints is null");
        this.remover = requireNonNull(remover, "remover is null");
        this.lock = requireNonNull(lock, "lock is null");
    }

    private record Place(SsdSlab slab, int extent) {}

    /**
     * Removes the blocks of a dropped file. Without the lock, which is taken for some at a time.
     */
    void remove(StoredFile file)
    {
        FileVersionId id = file.id();
        int ordinal = file.ordinal();
        int count = Integer.MAX_VALUE;
        for (int first = 0; first < count; first += DROPPED_AT_ONCE) {
            lock.lock();
            try {
                // the ordinal is the file's own for as long as it has blocks
                if (file.ssdBlocks() == 0 || !contents.contains(file)) {
                    return;
                }
                count = file.version().blockCount(geometry.blockSizeBytes());
                for (int i = first; i < Math.min(count, first + DROPPED_AT_ONCE); i++) {
                    int entry = index.find(BlockKey.digestHigh(id.digest().high(), i), BlockKey.digestLow(id.digest().low(), i));
                    if (entry != SsdIndex.NONE && index.file(entry) == ordinal) {
                        remover.accept(entry);
                        if (file.ssdBlocks() == 0) {
                            return;
                        }
                    }
                }
            }
            finally {
                lock.unlock();
            }
        }
    }

    /**
     * As {@link #remove}, and overwrites where the blocks were before anybody else may have the place. Without the lock.
     *
     * @param zeros as long as the largest extent
     * @throws IOException if something could not be overwritten; what is left of the file has to be removed by {@link #remove}
     */
    void wipe(StoredFile file, ByteBuffer zeros)
            throws IOException
    {
        FileVersionId id = file.id();
        int ordinal = file.ordinal();
        int count = Integer.MAX_VALUE;
        List<Place> places = new ArrayList<>();
        for (int first = 0; first < count; first += WIPED_AT_ONCE) {
            places.clear();
            lock.lock();
            try {
                if (file.ssdBlocks() == 0 || !contents.contains(file)) {
                    return;
                }
                if (!health.isWritable()) {
                    throw new IOException(health.problem().orElse("it takes nothing at present"));
                }
                count = file.version().blockCount(geometry.blockSizeBytes());
                for (int i = first; i < Math.min(count, first + WIPED_AT_ONCE) && file.ssdBlocks() > 0; i++) {
                    int entry = index.find(BlockKey.digestHigh(id.digest().high(), i), BlockKey.digestLow(id.digest().low(), i));
                    if (entry != SsdIndex.NONE && index.file(entry) == ordinal) {
                        Place place = new Place(policy.slab(entry), index.extent(entry));
                        remover.accept(entry);
                        place.slab().take(place.extent());
                        places.add(place);
                    }
                }
            }
            finally {
                lock.unlock();
            }
            makeJournalRoom();
            try {
                for (Place place : places) {
                    wipe(place.slab(), place.extent(), zeros);
                }
            }
            finally {
                lock.lock();
                try {
                    places.forEach(place -> place.slab().written(place.extent(), SsdSlab.FREE));
                }
                finally {
                    lock.unlock();
                }
            }
        }
    }

    /**
     * Overwrites an extent that is being written. Without the lock.
     */
    void wipe(SsdSlab slab, int extent, ByteBuffer zeros)
            throws IOException
    {
        // the slab keeps its class for as long as something in it is being written
        int bytes = sizeClasses.units(slab.sizeClass) * Geometry.UNIT_BYTES;
        disk.write(slab.number, contents.position(slab.number, extent), zeros.duplicate().clear().limit(bytes));
        checkpoints.setUnsynced(slab.number);
    }

    /**
     * Each block that leaves is a record: of many, a checkpoint in between takes less room than the journal has. Without the lock.
     */
    private void makeJournalRoom()
    {
        boolean room;
        lock.lock();
        try {
            room = journal.hasRoom();
        }
        finally {
            lock.unlock();
        }
        if (!room) {
            checkpoints.write(false);
        }
    }
}
