package io.cachedhive.store.ssd;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.column.ByteColumn;
import io.cachedhive.store.column.IntColumn;
import io.cachedhive.store.column.LongSet;
import io.cachedhive.store.disk.DiskFile;
import io.cachedhive.store.encryption.DataCipher;
import io.cachedhive.store.file.FileImage;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.slab.SizeClasses;
import io.cachedhive.store.ssd.JournalEntry.BlockAdded;
import io.cachedhive.store.ssd.JournalEntry.BlockRemoved;
import io.cachedhive.store.ssd.JournalEntry.FileAdded;
import io.cachedhive.store.ssd.JournalEntry.FileConfirmed;
import io.cachedhive.store.ssd.JournalEntry.FileDropped;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import static java.util.Comparator.comparing;
import static java.util.Comparator.comparingInt;
import static java.util.Comparator.reverseOrder;
import static java.util.Objects.requireNonNull;

/**
 * Restores the index of a directory from its newest valid checkpoint and the journal after it.
 *
 * <p>Recovery has two steps, so that a large store serves soon. {@link #recover} verifies the whole checkpoint, loads
 * its slabs and files, and replays the journal. Then {@link #readBlocks} and {@link #restoreBlock} restore the
 * checkpoint's blocks while the store is in use. This order is safe: {@link #forget} records the sequences of removed
 * blocks, and a replaced block has a lower sequence than its replacement.
 *
 * <p>A dropped file must never come back. So recovery uses a checkpoint only if the journal is complete from its start
 * to the end. If the newest checkpoint is damaged, it uses the older one with the journal between them. A journal with
 * a gap makes the directory start empty. The opposite error is harmless: if an extent holds another block, the read of
 * the extent detects it.
 */
final class DirectoryRecovery
{
    private static final Logger log = Logger.get(DirectoryRecovery.class);

    // types of checkpoint chunks
    static final int SLABS_CHUNK = 1;
    static final int BLOCKS_CHUNK = 2;
    static final int TEXTS_CHUNK = 3;
    static final int FILES_CHUNK = 4;
    static final int POLICY_CHUNK = 5;

    private static final BlockClass[] CLASSES = BlockClass.values();

    // states of files
    private static final int PROVISIONAL = 1;
    private static final int CONFIRMED = 2;

    // no checkpoint is large enough for more files
    private static final int MAX_ORDINAL = 1 << 27;

    // marks that the checkpoint has no file with this ordinal
    private static final int UNSEEN = -2;
    private static final int MAX_CHUNKS_AHEAD = 8;

    private final Path directory;
    private final Superblock superblock;
    private final SsdFormat format;
    private final DiskFile journalFile;
    private final List<DiskFile> checkpointFiles;
    private final Optional<DataCipher> cipher;
    private final SsdIndex index;
    private final SsdSlab[] slabs;
    private final boolean[] slabIsNew;
    private final SizeClasses sizeClasses;

    private final List<RecoveryOutcome> outcomes = new ArrayList<>();
    private final FileTable files;
    private final Executor loader;
    private final Executor verifier;
    // by table ordinal: the files of this directory, each held in the table by a fill
    private ByteColumn states = new ByteColumn();
    // files that another directory binds to another ETag
    private final Set<FileVersionId> contradicting = new LinkedHashSet<>();

    // table ordinals by checkpoint ordinal, and the reverse
    private IntColumn ordinals = new IntColumn(UNSEEN);
    private IntColumn checkpointOrdinals = new IntColumn(SsdIndex.NONE);
    // upper bound for the records of the checkpoint's files in the next checkpoint
    private long fileRecordBytes;
    // sequences of removed blocks, which the checkpoint may contain
    private LongSet removed = new LongSet();
    private Optional<Checkpoint.Reader> blocks = Optional.empty();
    // added by the verifier, then sorted by age, and the next one to read
    private List<AgedChunk> blockChunks = new ArrayList<>();
    private int nextBlockChunk;
    // by size class
    private final Map<Integer, Integer> policyFindings = new HashMap<>();

    /**
     * @param files states of files by table ordinal, as in the index; a fill holds each file with a state in the table
     * @param nextLsn end of the journal
     * @param liveLsn start of the required part of the journal
     * @param newestCheckpoint number of the restored checkpoint, 0 without one
     * @param newestStartLsn start of the restored checkpoint
     * @param nextCheckpoint number of the next checkpoint
     * @param checkpointBytes upper bound for a checkpoint of everything found
     * @param givenUp whether nothing could be restored, so that the old contents have to be invalidated before any
     *         write
     */
    record Result(
            List<RecoveryOutcome> outcomes,
            ByteColumn files,
            long nextLsn,
            long liveLsn,
            long newestCheckpoint,
            long newestStartLsn,
            long nextCheckpoint,
            long checkpointBytes,
            boolean givenUp) {}

    private record Candidate(int slot, Checkpoint.Header header) {}

    /**
     * A chunk with blocks.
     *
     * @param age of its blocks, see {@link DirectoryPolicy#age}
     */
    private record AgedChunk(int age, Checkpoint.ChunkPlace place) {}

    /**
     * @param contents to restore
     * @param loader loads files in the background, one task at a time
     * @param verifier verifies the other chunks of the checkpoint in the background
     */
    DirectoryRecovery(RecoverySource source, DirectoryContents contents, boolean[] slabIsNew, Executor loader, Executor verifier)
    {
        this.directory = source.directory();
        this.superblock = source.superblock();
        this.format = source.format();
        this.journalFile = source.journal();
        this.checkpointFiles = source.checkpoints();
        this.cipher = source.cipher();
        this.index = contents.index();
        this.slabs = contents.slabs();
        this.slabIsNew = requireNonNull(slabIsNew, "slabIsNew is null");
        this.sizeClasses = superblock.geometry().sizeClasses();
        this.files = contents.files();
        this.loader = requireNonNull(loader, "loader is null");
        this.verifier = requireNonNull(verifier, "verifier is null");
    }

    /**
     * Runs the first step. Nothing else may use the table before it returns.
     */
    Result recover()
            throws IOException
    {
        long journalBytes = superblock.geometry().journalBytes();
        List<Candidate> candidates = candidates();
        long lastNumber = Math.max(candidates.stream().mapToLong(candidate -> candidate.header.number()).max().orElse(0), superblock.minCheckpoint() - 1);
        List<Journal.Batch> found = Journal.scan(journalFile, superblock.storeId(), journalBytes);
        // the missing end of a truncated journal may have held the newest records
        boolean journalIsWhole = journalFile.size() == journalBytes;
        List<Journal.Batch> batches = journalIsWhole ? found : List.of();
        if (!journalIsWhole) {
            outcomes.add(journalOutcome(
                    RecoveryFinding.JOURNAL_CORRUPT,
                    "it has %s bytes, not %s; only the checkpoint of a clean stop can do without it".formatted(journalFile.size(), journalBytes)));
        }

        for (Candidate candidate : candidates) {
            if (!journalIsWhole && !(candidate.header.clean() && candidate.header.run() >= superblock.usedRun())) {
                continue;
            }
            clear();
            if (!load(candidate)) {
                continue;
            }
            Checkpoint.Header header = candidate.header;
            index.reserve(blockCount(header));
            Journal.Tail tail = Journal.tail(batches, header.startLsn(), journalFile, journalBytes);
            if (!replay(tail)) {
                continue;
            }
            if (header.clean() && tail.batches().isEmpty()) {
                outcomes.add(outcome(RecoveryFinding.CLEAN_STOP, "the last run stopped cleanly; its checkpoint %s is restored".formatted(header.number())));
            }
            else {
                outcomes.add(outcome(
                        RecoveryFinding.CRASH,
                        "the last run did not stop cleanly; its checkpoint %s and %s batches of the journal are restored".formatted(header.number(), tail.batches().size())));
            }
            // the other checkpoint stays useful only if the journal reaches back to its start
            long liveLsn = candidates.stream()
                    .map(other -> other.header.startLsn())
                    .filter(start -> start <= header.startLsn() && reachesBack(batches, start, tail.endLsn()))
                    .min(comparing(start -> start))
                    .orElse(header.startLsn());
            long next = (lastNumber + 1) % 2 == candidate.slot ? lastNumber + 2 : lastNumber + 1;
            blocks = Optional.of(Checkpoint.Reader.ofBlocks(checkpointFiles.get(candidate.slot), header, cipher));
            blockChunks.sort(comparingInt(AgedChunk::age));
            long recordBytes = blockCount(header) * DirectoryContents.BLOCK_RECORD_BYTES
                    + fileRecordBytes
                    + (long) slabs.length * DirectoryContents.SLAB_RECORD_BYTES
                    + (long) sizeClasses.count() * DirectoryContents.POLICY_RECORD_BYTES;
            long checkpointBytes = DirectoryContents.withChunkHeaders(recordBytes) + checkpointBytes(tail);
            return new Result(outcomes, finishFiles(), tail.endLsn(), liveLsn, header.number(), header.startLsn(), next, checkpointBytes, false);
        }

        // without a checkpoint, the journal has to reach back to the empty directory
        clear();
        if (!journalIsWhole) {
            return startEmpty(found, candidates, lastNumber);
        }
        Journal.Tail tail = Journal.tail(batches, superblock.baseLsn(), journalFile, journalBytes);
        if (replay(tail)) {
            outcomes.add(outcome(
                    candidates.isEmpty() ? RecoveryFinding.CHECKPOINT_MISSING : RecoveryFinding.CRASH,
                    "the last run did not stop cleanly, and there is no checkpoint; %s batches of the journal since the beginning are restored".formatted(tail.batches().size())));
            return new Result(outcomes, finishFiles(), tail.endLsn(), superblock.baseLsn(), 0, superblock.baseLsn(), lastNumber + 1, checkpointBytes(tail), false);
        }
        return startEmpty(batches, candidates, lastNumber);
    }

    private Result startEmpty(List<Journal.Batch> batches, List<Candidate> candidates, long lastNumber)
    {
        clear();
        long journalBytes = superblock.geometry().journalBytes();
        outcomes.add(outcome(RecoveryFinding.CHECKPOINT_MISSING, "no complete checkpoint and journal found; starting empty"));
        long last = Math.max(superblock.baseLsn(), batches.isEmpty() ? 0 : batches.getLast().end());
        for (Candidate candidate : candidates) {
            last = Math.max(last, candidate.header.startLsn());
        }
        long base = (last / journalBytes + 2) * journalBytes;
        return new Result(outcomes, finishFiles(), base, base, 0, base, lastNumber + 1, 0, true);
    }

    /**
     * Returns an upper bound for the replayed records in a checkpoint, which are at most twice as long there.
     */
    private static long checkpointBytes(Journal.Tail tail)
    {
        return tail.batches().stream().mapToLong(batch -> 2L * batch.bodyLength()).sum();
    }

    private static long blockCount(Checkpoint.Header header)
    {
        return Math.min(header.blocks(), header.contentBytes() / DirectoryContents.BLOCK_RECORD_BYTES);
    }

    private static boolean reachesBack(List<Journal.Batch> batches, long startLsn, long endLsn)
    {
        long lsn = startLsn;
        for (Journal.Batch batch : batches) {
            if (batch.lsn() >= startLsn && batch.lsn() < endLsn) {
                if (batch.lsn() != lsn) {
                    return false;
                }
                lsn = batch.end();
            }
        }
        return lsn == endLsn;
    }

    /**
     * Returns the usable checkpoints, newest first.
     */
    private List<Candidate> candidates()
            throws IOException
    {
        List<Candidate> candidates = new ArrayList<>();
        for (int slot = 0; slot < checkpointFiles.size(); slot++) {
            Checkpoint.ReadHeader read = Checkpoint.readHeader(checkpointFiles.get(slot), format);
            switch (read.status()) {
                case EMPTY -> {}
                case CORRUPT -> outcomes.add(outcome(slot, RecoveryFinding.CHECKPOINT_CORRUPT, "its header does not verify; ignoring it"));
                case TOO_OLD -> outcomes.add(outcome(slot, RecoveryFinding.CHECKPOINT_TOO_OLD, "its format is older than this release reads; ignoring it"));
                case TOO_NEW -> outcomes.add(outcome(slot, RecoveryFinding.CHECKPOINT_TOO_NEW, "its format is newer than this release reads; ignoring it"));
                case VALID -> {
                    Checkpoint.Header header = read.header().orElseThrow();
                    if (!header.storeId().equals(superblock.storeId())) {
                        outcomes.add(outcome(slot, RecoveryFinding.CHECKPOINT_FOREIGN, "belongs to another store (%s); ignoring it".formatted(header.storeId())));
                    }
                    else if (header.number() < superblock.minCheckpoint() || header.number() % 2 != slot) {
                        outcomes.add(outcome(slot, RecoveryFinding.CHECKPOINT_OUTDATED, "number %s is declared void; ignoring it".formatted(header.number())));
                    }
                    else {
                        candidates.add(new Candidate(slot, header));
                    }
                }
            }
        }
        candidates.sort(comparing(candidate -> candidate.header.number(), reverseOrder()));
        return candidates;
    }

    private RecoveryOutcome outcome(RecoveryFinding finding, String decision)
    {
        return new RecoveryOutcome(finding, directory, decision);
    }

    private RecoveryOutcome outcome(int slot, RecoveryFinding finding, String decision)
    {
        return new RecoveryOutcome(finding, directory.resolve(DirectoryFiles.CHECKPOINT_NAMES.get(slot)), decision);
    }

    /**
     * Releases the files held in the table.
     */
    void abandon()
    {
        clear();
    }

    private void clear()
    {
        index.clear();
        for (int ordinal = 0; ordinal < files.ordinalLimit(); ordinal++) {
            if (states.find(ordinal) != 0) {
                release(files.byOrdinal(ordinal));
            }
        }
        states = new ByteColumn();
        contradicting.clear();
        fileRecordBytes = 0;
        ordinals = new IntColumn(UNSEEN);
        checkpointOrdinals = new IntColumn(SsdIndex.NONE);
        removed = new LongSet();
        policyFindings.clear();
        blockChunks = new ArrayList<>();
        nextBlockChunk = 0;
        for (int i = 0; i < slabs.length; i++) {
            slabs[i] = new SsdSlab(i);
        }
    }

    private boolean load(Candidate candidate)
            throws IOException
    {
        DiskFile file = checkpointFiles.get(candidate.slot);
        Checkpoint.Header header = candidate.header;
        // in parallel, because blocks take much more space than files
        CompletableFuture<Void> verified = CompletableFuture.runAsync(() -> verify(file, header), verifier);
        Deque<CompletableFuture<Void>> taking = new ArrayDeque<>();
        FileImage.Reader image = new FileImage.Reader(files);
        files.reserve(header.files());
        try {
            Checkpoint.Reader.ofFiles(file, header, cipher).readAll((type, body) -> takeFiles(type, body, image, taking));
            while (!taking.isEmpty()) {
                await(taking.poll());
            }
            await(verified);
            return true;
        }
        catch (WireException e) {
            outcomes.add(outcome(candidate.slot, RecoveryFinding.CHECKPOINT_CORRUPT, "%s; ignoring it".formatted(e.getMessage())));
            return false;
        }
        finally {
            // no task may use the table or the slabs after this method returns
            taking.forEach(task -> task.exceptionally(_ -> null).join());
            verified.exceptionally(_ -> null).join();
            image.finish();
        }
    }

    /**
     * Verifies the chunks that precede the files of a checkpoint.
     */
    private void verify(DiskFile file, Checkpoint.Header header)
    {
        try {
            Checkpoint.Reader reader = Checkpoint.Reader.ofBlocks(file, header, cipher);
            reader.readAll((type, body) -> loadOther(type, body, reader.current()));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void await(CompletableFuture<Void> task)
            throws IOException
    {
        try {
            task.join();
        }
        catch (CompletionException e) {
            switch (e.getCause()) {
                case IllegalArgumentException invalid -> throw new WireException("a checkpoint is not valid: " + invalid.getMessage());
                case UncheckedIOException failure -> throw failure.getCause();
                default -> throw e;
            }
        }
    }

    private void loadOther(int type, WireReader body, Checkpoint.ChunkPlace place)
            throws WireException
    {
        switch (type) {
            case SLABS_CHUNK -> {
                while (body.remaining() > 0) {
                    int slab = body.getInt();
                    int sizeClass = body.getByte();
                    if (slab >= 0 && slab < slabs.length && sizeClass >= 0 && sizeClass < sizeClasses.count() && slabs[slab].sizeClass == -1) {
                        slabs[slab].cutUnknown(sizeClass, sizeClasses.piecesPerSlab(sizeClass));
                    }
                }
            }
            case BLOCKS_CHUNK -> {
                blockChunks.add(new AgedChunk(body.getByte(), place));
                if (body.remaining() % DirectoryContents.BLOCK_RECORD_BYTES != 0) {
                    throw new WireException("a checkpoint has a part of a block");
                }
            }
            case POLICY_CHUNK -> {
                while (body.remaining() > 0) {
                    int sizeClass = body.getByte();
                    int findings = body.getByte();
                    if (sizeClass >= 0 && sizeClass < sizeClasses.count()) {
                        policyFindings.put(sizeClass, findings);
                    }
                }
            }
            default -> throw new WireException("a checkpoint has a chunk of type %s where there is none".formatted(type));
        }
    }

    private void takeFiles(int type, WireReader body, FileImage.Reader image, Deque<CompletableFuture<Void>> taking)
            throws IOException
    {
        if (type != TEXTS_CHUNK && type != FILES_CHUNK) {
            throw new WireException("a checkpoint has a chunk of type %s among its files".formatted(type));
        }
        byte[] bytes = new byte[body.remaining()];
        body.getRest().get(bytes);
        taking.add(CompletableFuture.runAsync(() -> takeFiles(type, bytes, image), loader));
        if (taking.size() > MAX_CHUNKS_AHEAD) {
            await(taking.poll());
        }
    }

    private void takeFiles(int type, byte[] bytes, FileImage.Reader image)
    {
        WireReader body = new WireReader(ByteBuffer.wrap(bytes));
        try {
            if (type == TEXTS_CHUNK) {
                image.readTexts(body);
                return;
            }
            image.touch(new WireReader(ByteBuffer.wrap(bytes)));
            while (body.remaining() > 0) {
                image.read(body);
                if (image.length() > JournalEntry.MAX_FILE_BYTES) {
                    throw new WireException("a file has %s bytes".formatted(image.length()));
                }
                if (take(image.ordinal(), image.id(), image.etagDigest(), image.isProvisional(), image::add).isPresent()) {
                    fileRecordBytes += DirectoryContents.recordBytesOfFile(image.textBytes());
                }
            }
        }
        catch (WireException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * @return empty if another directory binds the file to another ETag
     */
    private Optional<StoredFile> take(int ordinal, FileVersionId id, long etagDigest, boolean provisional, Supplier<StoredFile> adder)
    {
        if (ordinal < 0 || ordinal > MAX_ORDINAL) {
            throw new IllegalArgumentException("a file cannot have the ordinal " + ordinal);
        }
        if (ordinals.find(ordinal) != UNSEEN) {
            throw new IllegalArgumentException("two files have the ordinal " + ordinal);
        }
        // the file was dropped and bound again while the checkpoint was written
        held(id).ifPresent(this::release);
        ordinals.set(ordinal, SsdIndex.NONE);
        Optional<StoredFile> taken = hold(id, etagDigest, provisional, adder);
        taken.ifPresent(stored -> {
            ordinals.set(ordinal, stored.ordinal());
            checkpointOrdinals.set(stored.ordinal(), ordinal);
        });
        return taken;
    }

    /**
     * Adds a file as provisional; a later record may confirm it.
     */
    private StoredFile add(FileVersionId id, FileMetadata metadata)
    {
        return files.add(id, new FileMetadata(metadata.version(), metadata.etag(), true, metadata.table()));
    }

    /**
     * Receives a block record of a checkpoint.
     */
    interface BlockConsumer
    {
        void take(long digestHigh, long digestLow, long sequence, int slab, int sizeClass, int extent, int length, int file, int heat, int blockClass, int expirySeconds);
    }

    /**
     * Reads one chunk of the checkpoint. Called by one thread, without the lock.
     *
     * @return false at the end
     */
    boolean readBlocks(BlockConsumer consumer)
            throws IOException
    {
        if (blocks.isEmpty() || nextBlockChunk == blockChunks.size()) {
            return false;
        }
        blocks.get().read(blockChunks.get(nextBlockChunk).place(), (_, body) -> {
            body.getByte();
            while (body.remaining() > 0) {
                consumer.take(
                        body.getLong(),
                        body.getLong(),
                        body.getLong(),
                        body.getInt(),
                        body.getByte(),
                        body.getInt(),
                        body.getInt(),
                        body.getInt(),
                        body.getByte(),
                        body.getByte(),
                        body.getInt());
            }
        });
        nextBlockChunk++;
        return true;
    }

    /**
     * Restores a block of the checkpoint if it is still valid.
     *
     * @param checkpointOrdinal of its file
     * @param heat for the policy; ignored here
     * @return the entry, or {@link SsdIndex#NONE}
     */
    int restoreBlock(
            long digestHigh,
            long digestLow,
            long sequence,
            int slab,
            int sizeClass,
            int extent,
            int length,
            int checkpointOrdinal,
            int heat,
            int blockClass,
            int expirySeconds)
    {
        if (blockClass < 0 || blockClass >= CLASSES.length) {
            return SsdIndex.NONE;
        }
        int ordinal = checkpointOrdinal < 0 ? SsdIndex.NONE : ordinals.find(checkpointOrdinal);
        // skips blocks of dropped files, including files bound again under another checkpoint ordinal
        if (ordinal < 0 || checkpointOrdinals.find(ordinal) != checkpointOrdinal || files.isDropped(ordinal) || removed.contains(sequence)) {
            return SsdIndex.NONE;
        }
        if (index.find(digestHigh, digestLow) != SsdIndex.NONE || isTaken(slab, extent)) {
            // restored from the journal, or written in this run
            return SsdIndex.NONE;
        }
        return restore(digestHigh, digestLow, sequence, slab, sizeClass, extent, length, ordinal, new BlockTerms(CLASSES[blockClass], Integer.toUnsignedLong(expirySeconds)));
    }

    /**
     * Prefetches into the processor's cache the memory that {@link #restoreBlock} will read, except the index.
     *
     * @return a meaningless number that keeps the reads from being optimized away
     */
    int touch(int slab, int extent, int checkpointOrdinal)
    {
        int entry = isTaken(slab, extent) ? 1 : 0;
        int ordinal = checkpointOrdinal < 0 ? SsdIndex.NONE : ordinals.find(checkpointOrdinal);
        return ordinal < 0 ? entry : entry + checkpointOrdinals.find(ordinal) + files.touchCounts(ordinal);
    }

    /**
     * Returns the learned tuning of the last run's policy by size class.
     */
    Map<Integer, Integer> policyFindings()
    {
        return Map.copyOf(policyFindings);
    }

    /**
     * Runs the second step at once, for a caller that needs only the index.
     */
    void restoreAll()
            throws IOException
    {
        while (readBlocks(this::restoreBlock)) {
            // until the end
        }
        for (SsdSlab slab : slabs) {
            slab.settle();
        }
    }

    private boolean isTaken(int slab, int extent)
    {
        if (slab < 0 || slab >= slabs.length || extent < 0 || extent >= slabs[slab].extentCount()) {
            return true;
        }
        int found = slabs[slab].entry(extent);
        return found != SsdSlab.FREE && found != SsdSlab.UNKNOWN;
    }

    /**
     * Marks a block as removed, so that the checkpoint does not restore it.
     */
    void forget(long sequence)
    {
        // 0 is not a valid sequence
        if (sequence != 0) {
            removed.add(sequence);
        }
    }

    /**
     * @return the entry, or {@link SsdIndex#NONE} if the record is invalid, or a newer block replaces it
     */
    private int restore(long digestHigh, long digestLow, long sequence, int slabNumber, int sizeClass, int extent, int length, int ordinal, BlockTerms terms)
    {
        if (slabNumber < 0 || slabNumber >= slabs.length || slabIsNew[slabNumber] || length < 0 || length > superblock.geometry().blockSizeBytes()) {
            return SsdIndex.NONE;
        }
        SsdSlab slab = slabs[slabNumber];
        // the slab may have changed its size class while the checkpoint was written
        if (slab.sizeClass != sizeClass || extent < 0 || extent >= slab.extentCount() || Extent.units(length) > sizeClasses.units(sizeClass)) {
            return SsdIndex.NONE;
        }
        int occupant = slab.entry(extent);
        if (occupant >= 0) {
            if (index.sequence(occupant) == sequence && index.digestHigh(occupant) == digestHigh && index.digestLow(occupant) == digestLow) {
                // the same block with new terms
                index.setTerms(occupant, terms);
            }
            if (index.sequence(occupant) >= sequence) {
                return SsdIndex.NONE;
            }
            remove(occupant);
        }
        int same = index.find(digestHigh, digestLow);
        if (same != SsdIndex.NONE) {
            if (index.sequence(same) >= sequence) {
                return SsdIndex.NONE;
            }
            remove(same);
        }
        int entry = index.insert(digestHigh, digestLow, sequence, slabNumber, extent, length, ordinal, terms);
        slab.restore(extent, entry);
        return entry;
    }

    private void remove(int entry)
    {
        slabs[index.slab(entry)].free(index.extent(entry));
        index.remove(entry);
    }

    private boolean replay(Journal.Tail tail)
            throws IOException
    {
        switch (tail.ending()) {
            case GAP -> {
                outcomes.add(journalOutcome(RecoveryFinding.JOURNAL_GAP, "it does not reach back to %s; what begins there is not used".formatted(tail.endLsn())));
                return false;
            }
            case CORRUPT -> {
                outcomes.add(journalOutcome(
                        RecoveryFinding.JOURNAL_CORRUPT,
                        "the batch at %s is damaged, and later ones are not; what begins before is not used".formatted(tail.endLsn())));
                return false;
            }
            case TORN -> outcomes.add(journalOutcome(
                    RecoveryFinding.JOURNAL_TORN,
                    "its last batch, at %s, was not written to the end; ignoring it".formatted(tail.endLsn())));
            case COMPLETE -> {}
        }
        try {
            for (Journal.Batch batch : tail.batches()) {
                Journal.readBatch(journalFile, batch, superblock.storeId(), cipher, superblock.geometry().journalBytes(), entry -> apply(JournalEntry.decode(entry)));
            }
            return true;
        }
        catch (WireException e) {
            outcomes.add(journalOutcome(RecoveryFinding.JOURNAL_CORRUPT, "%s; it is not used".formatted(e.getMessage())));
            return false;
        }
    }

    private RecoveryOutcome journalOutcome(RecoveryFinding finding, String decision)
    {
        return new RecoveryOutcome(finding, directory.resolve(DirectoryFiles.JOURNAL_NAME), decision);
    }

    private void apply(JournalEntry change)
    {
        switch (change) {
            case FileAdded(FileVersionId id, FileMetadata metadata) -> {
                Optional<StoredFile> file = held(id);
                if (file.isPresent() && file.get().etagDigest() != metadata.etagDigest()) {
                    // impossible without a drop in between
                    log.warn("The journal of %s binds file %s to another ETag without dropping it", directory, id);
                    drop(id);
                }
                hold(id, metadata.etagDigest(), metadata.provisional(), () -> add(id, metadata))
                        .ifPresent(stored -> states.set(stored.ordinal(), metadata.provisional() ? PROVISIONAL : CONFIRMED));
            }
            case FileConfirmed(FileVersionId id) -> held(id).ifPresent(file -> states.set(file.ordinal(), CONFIRMED));
            case FileDropped(FileVersionId id) -> drop(id);
            case BlockAdded block -> {
                Optional<StoredFile> file = held(block.file());
                // a drop of the file would not find a foreign block
                if (file.isPresent()
                        && isBlockOf(file.get(), block.digest())
                        && block.slab() >= 0
                        && block.slab() < slabs.length
                        && block.sizeClass() >= 0
                        && block.sizeClass() < sizeClasses.count()) {
                    SsdSlab slab = slabs[block.slab()];
                    if (slab.sizeClass != block.sizeClass()) {
                        for (int extent = 0; extent < slab.extentCount(); extent++) {
                            if (slab.entry(extent) >= 0) {
                                remove(slab.entry(extent));
                            }
                        }
                        slab.cut(block.sizeClass(), sizeClasses.piecesPerSlab(block.sizeClass()));
                    }
                    Digest128 digest = block.digest();
                    restore(
                            digest.high(),
                            digest.low(),
                            block.sequence(),
                            block.slab(),
                            block.sizeClass(),
                            block.extent(),
                            block.length(),
                            file.get().ordinal(),
                            block.terms());
                }
            }
            case BlockRemoved(Digest128 digest, long sequence) -> {
                forget(sequence);
                int entry = index.find(digest.high(), digest.low());
                if (entry != SsdIndex.NONE && index.sequence(entry) == sequence) {
                    remove(entry);
                }
            }
        }
    }

    private Optional<StoredFile> held(FileVersionId id)
    {
        return files.get(id).filter(file -> states.find(file.ordinal()) != 0);
    }

    /**
     * Holds a file in the table, which other directories may share.
     *
     * @return empty if another directory binds it to another ETag
     */
    private Optional<StoredFile> hold(FileVersionId id, long etagDigest, boolean provisional, Supplier<StoredFile> adder)
    {
        Optional<StoredFile> known = files.get(id);
        if (known.isPresent() && known.get().etagDigest() != etagDigest) {
            contradicting.add(id);
            return Optional.empty();
        }
        StoredFile file = known.orElseGet(adder);
        if (states.find(file.ordinal()) == 0) {
            files.addFills(file, 1);
            states.set(file.ordinal(), provisional ? PROVISIONAL : CONFIRMED);
        }
        return Optional.of(file);
    }

    private void release(StoredFile file)
    {
        states.set(file.ordinal(), 0);
        checkpointOrdinals.set(file.ordinal(), SsdIndex.NONE);
        files.addFills(file, -1);
        if (files.isIdle(file)) {
            files.drop(file);
        }
    }

    private boolean isBlockOf(StoredFile file, Digest128 digest)
    {
        long blocks = Math.ceilDiv(files.length(file.ordinal()), superblock.geometry().blockSizeBytes());
        return BlockKey.isOf(file.id(), (int) Math.min(blocks, Integer.MAX_VALUE), digest);
    }

    private void drop(FileVersionId id)
    {
        contradicting.remove(id);
        Optional<StoredFile> held = held(id);
        if (held.isEmpty()) {
            return;
        }
        StoredFile file = held.get();
        int blocks = file.version().blockCount(superblock.geometry().blockSizeBytes());
        if (blocks > index.limit()) {
            // a long file may have only a few blocks here
            for (int entry = 0; entry < index.limit(); entry++) {
                if (index.isUsed(entry) && index.file(entry) == file.ordinal()) {
                    remove(entry);
                }
            }
            release(file);
            return;
        }
        for (int i = 0; i < blocks; i++) {
            int entry = index.find(BlockKey.digestHigh(id.digest().high(), i), BlockKey.digestLow(id.digest().low(), i));
            if (entry != SsdIndex.NONE && index.file(entry) == file.ordinal()) {
                remove(entry);
            }
        }
        release(file);
    }

    private ByteColumn finishFiles()
    {
        for (FileVersionId id : contradicting) {
            log.warn("Two directories of the store bind file %s to different ETags: dropping it in %s", id, directory);
        }
        for (int ordinal = 0; ordinal < files.ordinalLimit(); ordinal++) {
            if (states.find(ordinal) == CONFIRMED) {
                files.confirm(files.byOrdinal(ordinal));
            }
        }
        return states;
    }
}
