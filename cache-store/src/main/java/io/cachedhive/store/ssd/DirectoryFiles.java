package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.Disk.Access;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.DiskFile;
import io.cachedhive.store.encryption.DataCipher;
import io.cachedhive.store.encryption.KeyFile;
import io.cachedhive.store.encryption.OperatorKey;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
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
    private final Optional<OperatorKey> operatorKey;
    private KeyFile.Opened key = new KeyFile.Opened(KeyFile.Outcome.NO_FILE, Optional.empty());
    private DiskFile superblock;
    private DiskFile journal;
    private final List<DiskFile> checkpoints = new ArrayList<>();
    // several slabs each
    private DiskFile[] slabFiles = {};

    /**
     * @param lock on the directory, released by {@link #close}
     * @param operatorKey the key that protects the data key; empty if the directory is not to be encrypted
     */
    DirectoryFiles(Path directory, Disk disk, Closeable lock, Optional<OperatorKey> operatorKey)
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.disk = requireNonNull(disk, "disk is null");
        this.lock = requireNonNull(lock, "lock is null");
        this.operatorKey = requireNonNull(operatorKey, "operatorKey is null");
    }

    static String slabFileName(int number)
    {
        return SLAB_PREFIX + "%05d".formatted(number);
    }

    static boolean isOurs(String name)
    {
        return name.startsWith(KeyFile.NAME) || name.equals(SUPERBLOCK_NAME) || name.equals(JOURNAL_NAME) || CHECKPOINT_NAMES.contains(name) || name.startsWith(SLAB_PREFIX);
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

    /**
     * @param number see {@link Geometry#slabFile}
     */
    DiskFile slabFile(int number)
    {
        return slabFiles[number];
    }

    /**
     * Reads the data key.
     *
     * @throws StoreException if another key of the operator protects it
     */
    void openKey()
            throws IOException, StoreException
    {
        key = KeyFile.open(directory, disk, operatorKey).requireKey("SSD directory " + directory);
    }

    /**
     * Returns what encrypts the contents; empty if they are not encrypted.
     */
    Optional<DataCipher> cipher()
    {
        return key.cipher();
    }

    /**
     * Returns why the existing files cannot be used with the operator's key: NO_FILE or KEY_CORRUPT.
     */
    Optional<KeyFile.Outcome> keyDoubt()
    {
        return operatorKey.isPresent() && key.cipher().isEmpty() ? Optional.of(key.outcome()) : Optional.empty();
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
        if (operatorKey.isPresent()) {
            // the old contents cannot be read with the new key, even if a crash brings back the old files
            key = new KeyFile.Opened(KeyFile.Outcome.OPENED, Optional.of(KeyFile.create(directory, disk, operatorKey.get())));
        }
        openJournalAndCheckpoints(geometry);
        journal.allocate(geometry.journalBytes());
        boolean[] isNew = new boolean[geometry.slabFileCount()];
        Arrays.fill(isNew, true);
        openSlabFiles(geometry, isNew);
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
     * @return which slabs are in files that were created or resized
     */
    boolean[] open(Geometry geometry, Consumer<RecoveryOutcome> outcomes)
            throws IOException
    {
        openJournalAndCheckpoints(geometry);
        boolean[] isNew = new boolean[geometry.slabFileCount()];
        for (int i = 0; i < isNew.length; i++) {
            Path slab = directory.resolve(slabFileName(i));
            if (!disk.exists(slab)) {
                isNew[i] = true;
                outcomes.accept(new RecoveryOutcome(RecoveryFinding.SLAB_MISSING, slab, "recreating it without its blocks"));
            }
        }
        boolean[] wasMissing = isNew.clone();
        openSlabFiles(geometry, isNew);
        for (int i = 0; i < isNew.length; i++) {
            if (!wasMissing[i] && slabFiles[i].size() != geometry.slabFileBytes(i)) {
                isNew[i] = true;
                outcomes.accept(new RecoveryOutcome(
                        RecoveryFinding.SLAB_SIZE_CHANGED,
                        directory.resolve(slabFileName(i)),
                        "it has %s bytes, not %s; continuing without its blocks".formatted(slabFiles[i].size(), geometry.slabFileBytes(i))));
                slabFiles[i].allocate(geometry.slabFileBytes(i));
            }
        }
        boolean[] slabIsNew = new boolean[geometry.slabCount()];
        for (int slab = 0; slab < slabIsNew.length; slab++) {
            slabIsNew[slab] = isNew[geometry.slabFile(slab)];
        }
        return slabIsNew;
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

    private void openSlabFiles(Geometry geometry, boolean[] isNew)
            throws IOException
    {
        slabFiles = new DiskFile[isNew.length];
        Access access = Access.DIRECT;
        for (int i = 0; i < slabFiles.length; i++) {
            Path slab = directory.resolve(slabFileName(i));
            try {
                slabFiles[i] = disk.open(slab, true, access);
            }
            catch (DiskException e) {
                if (access == Access.BUFFERED || e.reason() != DiskException.Cause.NOT_SUPPORTED) {
                    throw e;
                }
                log.info("The file system of %s does not support O_DIRECT: using the page cache", directory);
                access = Access.BUFFERED;
                slabFiles[i] = disk.open(slab, true, access);
            }
            if (isNew[i]) {
                slabFiles[i].allocate(geometry.slabFileBytes(i));
            }
        }
        if (access == Access.DIRECT && !readsDirectly()) {
            log.info("The file system of %s does not support reads with O_DIRECT: using the page cache", directory);
            for (int i = 0; i < slabFiles.length; i++) {
                slabFiles[i].close();
                slabFiles[i] = disk.open(directory.resolve(slabFileName(i)), false, Access.BUFFERED);
            }
        }
    }

    private boolean readsDirectly()
            throws IOException
    {
        try {
            slabFiles[0].read(0, AlignedBuffers.allocate(Geometry.UNIT_BYTES));
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
        all.addAll(Arrays.asList(slabFiles));
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
