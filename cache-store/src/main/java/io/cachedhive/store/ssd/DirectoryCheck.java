package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.store.block.ByteSize;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.Disk.Access;
import io.cachedhive.store.disk.DiskFile;
import io.cachedhive.store.encryption.DataCipher;
import io.cachedhive.store.encryption.KeyFile;
import io.cachedhive.store.encryption.OperatorKey;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.slab.SizeClasses;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Verifies an offline SSD directory with the readers of a start: superblock, journal, checkpoints, the index recovered
 * from them, and each block of the index. Opens files read-only and writes nothing but the lock file.
 */
public final class DirectoryCheck
{
    private static final int MAX_DETAILS = 20;

    private final Path directory;
    private final Disk disk;
    private final Optional<OperatorKey> operatorKey;
    private Optional<DataCipher> cipher = Optional.empty();
    private final List<Finding> findings = new ArrayList<>();
    private final Map<String, DiskFile> files = new HashMap<>();
    private final List<Closeable> opened = new ArrayList<>();

    public enum Verdict
    {
        OK,
        /**
         * A trace of a crash that a start handles; the disk is healthy.
         */
        NOTE,
        DAMAGED,
    }

    /**
     * @param subject the name of a file, or of a group of files
     * @param text one line
     */
    public record Finding(String subject, Verdict verdict, String text)
    {
        public Finding
        {
            requireNonNull(subject, "subject is null");
            requireNonNull(verdict, "verdict is null");
            requireNonNull(text, "text is null");
        }
    }

    private DirectoryCheck(Path directory, Disk disk, Optional<OperatorKey> operatorKey)
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.disk = requireNonNull(disk, "disk is null");
        this.operatorKey = requireNonNull(operatorKey, "operatorKey is null");
    }

    /**
     * @param operatorKey decrypts the directory
     * @return the findings in the order of the checks
     * @throws StoreException if the check is impossible: it is not an SSD directory, a worker uses it, another key
     *         encrypts it, or its disk fails
     */
    public static List<Finding> check(Path directory, Disk disk, Optional<OperatorKey> operatorKey)
            throws StoreException
    {
        if (!Files.isDirectory(directory)) {
            throw new StoreException("%s is not a directory: name one of cache.ssd.directories".formatted(directory));
        }
        try {
            if (disk.list(directory).stream().noneMatch(DirectoryFiles::isOurs)) {
                throw new StoreException("%s is not an SSD directory of a cache worker: name one of cache.ssd.directories".formatted(directory));
            }
            try (Closeable _ = disk.tryLock(directory.resolve(DirectoryFiles.LOCK_NAME)).orElseThrow(() -> new StoreException(
                    "SSD directory %s is in use by a cache worker: stop it first".formatted(directory)))) {
                DirectoryCheck check = new DirectoryCheck(directory, disk, operatorKey);
                try {
                    check.check();
                }
                finally {
                    for (Closeable file : check.opened) {
                        file.close();
                    }
                }
                return List.copyOf(check.findings);
            }
        }
        catch (IOException e) {
            throw new StoreException("SSD directory %s cannot be read (%s): run this as the user of the cache worker, or repair the disk".formatted(directory, e.getMessage()), e);
        }
    }

    private void add(String subject, Verdict verdict, String text)
    {
        findings.add(new Finding(subject, verdict, text));
    }

    private void check()
            throws IOException, StoreException
    {
        checkKey();
        Optional<Superblock> found = checkSuperblock();
        if (found.isEmpty()) {
            return;
        }
        Superblock superblock = found.get();
        Geometry geometry = superblock.geometry();
        checkSize(DirectoryFiles.JOURNAL_NAME, geometry.journalBytes());
        for (String name : DirectoryFiles.CHECKPOINT_NAMES) {
            checkSize(name, geometry.checkpointBytes());
        }
        DirectoryContents contents = new DirectoryContents(geometry, new FileTable());
        SsdSlab[] slabs = contents.slabs();
        boolean[] fileIsLost = new boolean[geometry.slabFileCount()];
        for (int i = 0; i < fileIsLost.length; i++) {
            fileIsLost[i] = !checkSize(DirectoryFiles.slabFileName(i), geometry.slabFileBytes(i));
        }
        boolean[] slabIsLost = new boolean[slabs.length];
        int lost = 0;
        for (int i = 0; i < slabs.length; i++) {
            slabIsLost[i] = fileIsLost[geometry.slabFile(i)];
            lost += slabIsLost[i] ? 1 : 0;
        }
        add("slabs", lost == 0 ? Verdict.OK : Verdict.DAMAGED, "%s of %s are there, of %s each".formatted(
                slabs.length - lost,
                slabs.length,
                ByteSize.format(geometry.slabBytes())));
        for (String name : DirectoryFiles.CHECKPOINT_NAMES) {
            if (files.containsKey(name)) {
                checkCheckpoint(name, superblock);
            }
        }
        if (files.containsKey(DirectoryFiles.JOURNAL_NAME)) {
            List<Journal.Batch> batches = Journal.scan(files.get(DirectoryFiles.JOURNAL_NAME), superblock.storeId(), geometry.journalBytes());
            add(DirectoryFiles.JOURNAL_NAME, Verdict.OK, "%s batches verify, old ones among them".formatted(batches.size()));
        }
        if (!files.keySet().containsAll(recoveryFiles())) {
            add("blocks", Verdict.DAMAGED, "not checked: files with their locations are missing");
            return;
        }
        RecoverySource source = new RecoverySource(
                directory,
                superblock,
                SsdFormat.CURRENT,
                files.get(DirectoryFiles.JOURNAL_NAME),
                DirectoryFiles.CHECKPOINT_NAMES.stream().map(files::get).toList(),
                cipher);
        DirectoryRecovery recovery = new DirectoryRecovery(source, contents, slabIsLost, Runnable::run, Runnable::run);
        DirectoryRecovery.Result result = recovery.recover();
        recovery.restoreAll();
        for (RecoveryOutcome outcome : result.outcomes()) {
            // a new store has no checkpoint yet
            boolean damaged = outcome.finding().isDoubt() && (outcome.finding() != RecoveryFinding.CHECKPOINT_MISSING || result.givenUp());
            Verdict verdict = damaged ? Verdict.DAMAGED : outcome.finding() == RecoveryFinding.CLEAN_STOP ? Verdict.OK : Verdict.NOTE;
            add("recovery", verdict, "%s: %s".formatted(outcome.finding(), outcome.decision()));
        }
        boolean crashed = result.outcomes().stream().noneMatch(outcome -> outcome.finding() == RecoveryFinding.CLEAN_STOP);
        checkBlocks(superblock, contents, crashed);
    }

    private void checkKey()
            throws IOException, StoreException
    {
        KeyFile.Opened key = KeyFile.open(directory, disk, operatorKey).requireKey("SSD directory " + directory);
        cipher = key.cipher();
        switch (key.outcome()) {
            case OPENED -> add(KeyFile.NAME, Verdict.OK, "the key of the operator decrypts the data key");
            case KEY_CORRUPT -> add(KeyFile.NAME, Verdict.DAMAGED, "it does not verify: a start begins empty");
            default -> {}
        }
    }

    private static List<String> recoveryFiles()
    {
        List<String> names = new ArrayList<>(DirectoryFiles.CHECKPOINT_NAMES);
        names.add(DirectoryFiles.JOURNAL_NAME);
        return names;
    }

    private DiskFile open(String name)
            throws IOException
    {
        DiskFile file = disk.open(directory.resolve(name), false, Access.READ_ONLY);
        opened.add(file);
        files.put(name, file);
        return file;
    }

    private Optional<Superblock> checkSuperblock()
            throws IOException
    {
        String name = DirectoryFiles.SUPERBLOCK_NAME;
        if (!disk.exists(directory.resolve(name))) {
            add(name, Verdict.DAMAGED, "missing: a start begins empty");
            return Optional.empty();
        }
        Superblock.Read read = Superblock.read(open(name), SsdFormat.CURRENT);
        if (read.superblock().isEmpty()) {
            add(name, Verdict.DAMAGED, "%s: a start begins empty".formatted(read.doubt().orElseThrow()));
            return Optional.empty();
        }
        Superblock superblock = read.superblock().get();
        add(name, Verdict.OK, "cache worker %s, store %s, run %s, blocks of %s".formatted(
                superblock.workerId(),
                superblock.storeId(),
                superblock.run(),
                ByteSize.format(superblock.geometry().blockSizeBytes())));
        read.doubt().ifPresent(doubt -> add(name, Verdict.DAMAGED, "%s: one of its two pages does not verify".formatted(doubt)));
        return Optional.of(superblock);
    }

    private boolean checkSize(String name, long bytes)
            throws IOException
    {
        if (!disk.exists(directory.resolve(name))) {
            add(name, Verdict.DAMAGED, "missing");
            return false;
        }
        long size = open(name).size();
        if (size != bytes) {
            add(name, Verdict.DAMAGED, "it has %s bytes, not %s".formatted(size, bytes));
            return false;
        }
        return true;
    }

    private void checkCheckpoint(String name, Superblock superblock)
            throws IOException
    {
        DiskFile file = files.get(name);
        Checkpoint.ReadHeader read = Checkpoint.readHeader(file, SsdFormat.CURRENT);
        switch (read.status()) {
            case EMPTY -> add(name, Verdict.OK, "empty: not written yet, or being written when the worker ended");
            case CORRUPT -> add(name, Verdict.DAMAGED, "its header does not verify");
            case TOO_OLD -> add(name, Verdict.DAMAGED, "its format is older than this release reads");
            case TOO_NEW -> add(name, Verdict.DAMAGED, "its format is newer than this release reads");
            case VALID -> {
                Checkpoint.Header header = read.header().orElseThrow();
                if (!header.storeId().equals(superblock.storeId())) {
                    add(name, Verdict.DAMAGED, "belongs to another store: %s".formatted(header.storeId()));
                    return;
                }
                try {
                    Checkpoint.read(file, header, cipher, (_, _) -> {});
                    add(name, Verdict.OK, "number %s, of run %s%s: %s blocks of %s files in %s chunks, all verify".formatted(
                            header.number(),
                            header.run(),
                            header.clean() ? ", at a clean stop" : "",
                            header.blocks(),
                            header.files(),
                            header.chunkCount()));
                }
                catch (WireException e) {
                    add(name, Verdict.DAMAGED, "number %s, of run %s: %s".formatted(header.number(), header.run(), e.getMessage()));
                }
            }
        }
    }

    private void checkBlocks(Superblock superblock, DirectoryContents contents, boolean crashed)
            throws IOException
    {
        SsdIndex index = contents.index();
        SsdSlab[] slabs = contents.slabs();
        FileTable table = contents.files();
        Geometry geometry = superblock.geometry();
        SizeClasses sizeClasses = geometry.sizeClasses();
        long verified = 0;
        long bytes = 0;
        long replaced = 0;
        List<String> damaged = new ArrayList<>();
        long damagedCount = 0;
        // whole extents, also of plain blocks
        ExtentBuffers buffers = ExtentBuffers.allocate(geometry.blockSizeBytes(), true);
        ByteBuffer buffer = buffers.bytes();
        for (int entry = 0; entry < index.limit(); entry++) {
            if (!index.isUsed(entry)) {
                continue;
            }
            StoredFile file = table.byOrdinal(index.file(entry));
            Digest128 digest = new Digest128(index.digestHigh(entry), index.digestLow(entry));
            int length = index.length(entry);
            SsdSlab slab = slabs[index.slab(entry)];
            int extentBytes = sizeClasses.units(slab.sizeClass) * Geometry.UNIT_BYTES;
            long position = (long) index.extent(entry) * extentBytes;
            String problem;
            try {
                buffer.clear().limit(extentBytes);
                files.get(DirectoryFiles.slabFileName(geometry.slabFile(slab.number))).read(geometry.slabOffset(slab.number) + position, buffer);
                buffer.flip();
                Digest128 storeId = superblock.storeId();
                long sequence = index.sequence(entry);
                boolean valid = cipher.isPresent() ?
                        EncryptedExtent.read(buffers, cipher.get(), digest, sequence, file.etagDigest(), length, storeId) :
                        Extent.verify(buffer, digest, sequence, file.etagDigest(), length, storeId);
                if (valid) {
                    verified++;
                    bytes += length;
                    continue;
                }
                boolean isReplaced = cipher.isPresent() ?
                        EncryptedExtent.hasTrailer(buffer, storeId) && !EncryptedExtent.isTrailerOf(buffer, sequence, length) :
                        Extent.hasTrailer(buffer, storeId) && !Extent.isTrailerOf(buffer, digest, sequence, length);
                if (crashed && isReplaced) {
                    replaced++;
                    continue;
                }
                problem = "does not verify";
            }
            catch (IOException e) {
                problem = e.getMessage();
            }
            damagedCount++;
            if (damaged.size() < MAX_DETAILS) {
                damaged.add("block %s of %s, at %s: %s".formatted(digest, file.version().location(), position, problem));
            }
        }
        add("blocks", Verdict.OK, "%s verify, %s".formatted(verified, ByteSize.format(bytes)));
        if (replaced > 0) {
            add("blocks", Verdict.NOTE, "%s were replaced by others shortly before the worker ended".formatted(replaced));
        }
        if (damagedCount > 0) {
            add("blocks", Verdict.DAMAGED, "%s do not verify or cannot be read".formatted(damagedCount));
            damaged.forEach(text -> add("blocks", Verdict.DAMAGED, text));
            if (damagedCount > damaged.size()) {
                add("blocks", Verdict.DAMAGED, "and %s more".formatted(damagedCount - damaged.size()));
            }
        }
    }
}
