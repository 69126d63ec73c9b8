package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.Disk.Access;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.DiskFile;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

import static java.util.Objects.requireNonNull;

/**
 * The files of an SSD directory: their names, creation and opening. Does not interpret their contents.
 *
 * <p>Fields are set when the directory is opened and do not change until it is closed.
 */
final class DirectoryFiles
        implements Closeable
{
    private static final Logger log = Logger.get(DirectoryFiles.class);

    static final String LOCK_NAME = "lock";
    static final String SUPERBLOCK_NAME = "superblock";
    static final String JOURNAL_NAME = "journal";
    static final List<String> CHECKPOINT_NAMES = List.of("checkpoint-0", "checkpoint-1");
    private static final String SLAB_PREFIX = "slab-";

    private final Path directory;
    private final Disk disk;
    private final Closeable lock;
    private DiskFile superblock;
    private DiskFile journal;
    private final List<DiskFile> checkpoints = new ArrayList<>();
    private DiskFile[] slabs = {};

    /**
     * @param lock on the directory, released by {@link #close}
     */
    DirectoryFiles(Path directory, Disk disk, Closeable lock)
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.disk = requireNonNull(disk, "disk is null");
        this.lock = requireNonNull(lock, "lock is null");
    }

    static String slabName(int number)
    {
        return SLAB_PREFIX + "%05d".formatted(number);
    }

    static boolean isOurs(String name)
    {
        return name.equals(SUPERBLOCK_NAME) || name.equals(JOURNAL_NAME) || CHECKPOINT_NAMES.contains(name) || name.startsWith(SLAB_PREFIX);
    }

    Path directory()
    {
        return directory;
    }

    DiskFile superblock()
    {
        return superblock;
    }

    DiskFile journal()
    {
        return journal;
    }

    List<DiskFile> checkpoints()
    {
        return checkpoints;
    }

    DiskFile slab(int number)
    {
        return slabs[number];
    }

    void openSuperblock()
            throws IOException
    {
        superblock = disk.open(directory.resolve(SUPERBLOCK_NAME), false, Access.BUFFERED);
    }

    /**
     * Returns the total size of the existing files in bytes.
     */
    long presentBytes()
            throws IOException
    {
        long present = 0;
        for (String name : disk.list(directory)) {
            if (isOurs(name)) {
                try (DiskFile file = disk.open(directory.resolve(name), false, Access.BUFFERED)) {
                    present += file.size();
                }
            }
        }
        return present;
    }

    /**
     * Recreates all files, with an empty superblock. They are durable after the caller writes the superblock and calls
     * {@link #sync}.
     */
    void make(Geometry geometry)
            throws IOException
    {
        if (superblock != null) {
            superblock.close();
            superblock = null;
        }
        for (String name : disk.list(directory)) {
            if (isOurs(name)) {
                disk.delete(directory.resolve(name));
            }
        }
        openJournalAndCheckpoints(geometry);
        journal.allocate(geometry.journalBytes());
        boolean[] isNew = new boolean[geometry.slabCount()];
        Arrays.fill(isNew, true);
        openSlabs(geometry, isNew);
        superblock = disk.open(directory.resolve(SUPERBLOCK_NAME), true, Access.BUFFERED);
        superblock.allocate(2 * Superblock.PAGE_BYTES);
    }

    /**
     * Makes the directory entries of new files durable.
     */
    void sync()
            throws IOException
    {
        disk.syncDirectory(directory);
    }

    /**
     * Opens journal, checkpoints and slabs. Creates missing checkpoints and slabs and resizes those with a wrong size.
     * Recovery checks the size of the journal.
     *
     * @return which slabs were created or resized
     */
    boolean[] open(Geometry geometry, Consumer<RecoveryOutcome> outcomes)
            throws IOException
    {
        openJournalAndCheckpoints(geometry);
        boolean[] isNew = new boolean[geometry.slabCount()];
        for (int i = 0; i < isNew.length; i++) {
            Path slab = directory.resolve(slabName(i));
            if (!disk.exists(slab)) {
                isNew[i] = true;
                outcomes.accept(new RecoveryOutcome(RecoveryFinding.SLAB_MISSING, slab, "recreating it without its blocks"));
            }
        }
        boolean[] wasMissing = isNew.clone();
        openSlabs(geometry, isNew);
        for (int i = 0; i < isNew.length; i++) {
            if (!wasMissing[i] && slabs[i].size() != geometry.slabBytes()) {
                isNew[i] = true;
                outcomes.accept(new RecoveryOutcome(
                        RecoveryFinding.SLAB_SIZE_CHANGED,
                        directory.resolve(slabName(i)),
                        "it has %s bytes, not %s; continuing without its blocks".formatted(slabs[i].size(), geometry.slabBytes())));
                slabs[i].allocate(geometry.slabBytes());
            }
        }
        return isNew;
    }

    private void openJournalAndCheckpoints(Geometry geometry)
            throws IOException
    {
        journal = disk.open(directory.resolve(JOURNAL_NAME), true, Access.BUFFERED);
        for (String name : CHECKPOINT_NAMES) {
            DiskFile file = disk.open(directory.resolve(name), true, Access.BUFFERED);
            checkpoints.add(file);
            if (file.size() != geometry.checkpointBytes()) {
                file.allocate(geometry.checkpointBytes());
            }
        }
    }

    private void openSlabs(Geometry geometry, boolean[] isNew)
            throws IOException
    {
        slabs = new DiskFile[isNew.length];
        Access access = Access.DIRECT;
        for (int i = 0; i < slabs.length; i++) {
            Path slab = directory.resolve(slabName(i));
            try {
                slabs[i] = disk.open(slab, true, access);
            }
            catch (DiskException e) {
                if (access == Access.BUFFERED || e.reason() != DiskException.Cause.NOT_SUPPORTED) {
                    throw e;
                }
                log.info("The file system of %s does not support O_DIRECT: using the page cache", directory);
                access = Access.BUFFERED;
                slabs[i] = disk.open(slab, true, access);
            }
            if (isNew[i]) {
                slabs[i].allocate(geometry.slabBytes());
            }
        }
        if (access == Access.DIRECT && !readsDirectly()) {
            log.info("The file system of %s does not support reads with O_DIRECT: using the page cache", directory);
            for (int i = 0; i < slabs.length; i++) {
                slabs[i].close();
                slabs[i] = disk.open(directory.resolve(slabName(i)), false, Access.BUFFERED);
            }
        }
    }

    private boolean readsDirectly()
            throws IOException
    {
        try {
            slabs[0].read(0, StagingBuffers.allocate(Geometry.UNIT_BYTES));
            return true;
        }
        catch (DiskException e) {
            if (e.reason() == DiskException.Cause.NOT_SUPPORTED) {
                return false;
            }
            throw e;
        }
    }

    @Override
    public void close()
            throws IOException
    {
        IOException failure = null;
        List<Closeable> all = new ArrayList<>(checkpoints);
        all.addAll(Arrays.asList(slabs));
        all.add(journal);
        all.add(superblock);
        // the lock last, because its next holder may open all other files
        all.add(lock);
        for (Closeable file : all) {
            try {
                if (file != null) {
                    file.close();
                }
            }
            catch (IOException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
