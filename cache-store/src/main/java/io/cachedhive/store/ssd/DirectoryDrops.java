package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.store.file.StoredFile;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;

import static java.util.Objects.requireNonNull;

/**
 * Removes the blocks of dropped files from a directory. Takes the lock for a few blocks at a time.
 */
final class DirectoryDrops
{
    private static final int DROPPED_AT_ONCE = 256;

    private final Geometry geometry;
    private final DirectoryContents contents;
    private final SsdIndex index;
    private final Journal journal;
    private final DirectoryCheckpoints checkpoints;
    private final IntConsumer remover;
    private final ReentrantLock lock;

    /**
     * @param remover removes the block of an entry; called under the lock
     */
    DirectoryDrops(DirectoryContext context, Journal journal, DirectoryCheckpoints checkpoints, IntConsumer remover)
    {
        this.geometry = context.geometry();
        this.contents = context.contents();
        this.index = contents.index();
        this.journal = requireNonNull(journal, "journal is null");
        this.checkpoints = requireNonNull(checkpoints, "checkpoints is null");
        this.remover = requireNonNull(remover, "remover is null");
        this.lock = context.lock();
    }

    /**
     * Removes the blocks of a dropped file. Callers must not hold the lock.
     */
    void remove(StoredFile file)
    {
        FileVersionId id = file.id();
        int ordinal = file.ordinal();
        int count = Integer.MAX_VALUE;
        for (int first = 0; first < count; first += DROPPED_AT_ONCE) {
            lock.lock();
            try {
                // the file keeps its ordinal while it has blocks
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
            LockYield.giveWay(lock);
        }
    }

    /**
     * Writes a checkpoint if the journal is full, because each drop is a record. Callers must not hold the lock.
     */
    void makeJournalRoom()
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
