package io.cachedhive.store.file;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.store.column.ByteColumn;
import io.cachedhive.store.column.HashChains;
import io.cachedhive.store.column.IntColumn;
import io.cachedhive.store.column.LongColumn;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

import static com.google.common.base.Verify.verify;

/**
 * The file versions of which the store has, or recently had, blocks. Guarded by the store's lock.
 *
 * <p>Invariants: a file that is not dropped is found by its id; a file with blocks or fills keeps its ordinal; an
 * ordinal is reused only when the file's counts are zero and no checkpoint that may name it is being written.
 *
 * <p>There is no object per file: a file is its ordinal, with fields in columns and the rest in a record. Names of
 * directories, tables and origins are shared. UUIDs and hexadecimal digests are packed.
 * <pre>
 *   columns    id (16)    digest of the ETag (8)    binding (4)    fills (4)    blocks in RAM (4)    blocks on SSD (4)
 *              state (1)  number of the table's name (4)
 *              chain and bucket of the id (8)       place of the record (5)
 *   record     length    last-modified, zigzag    origin, table, directory: numbers of shared texts
 *              ETag: number of bytes + 1, or 0 without one, packed text    name within the directory: packed text
 * </pre>
 */
public final class FileTable
{
    // files without blocks are kept for a while: from the bind to the first block, and for later fills to meet the same
    // ETag
    private static final int MAX_IDLE_FILES = 10_000;

    /**
     * Number of shared texts in a record, after its first two numbers.
     */
    static final int TEXTS = 3;
    // index of the table's name among them
    private static final int TABLE_TEXT = 1;

    // bits of the state; 0 is a free ordinal
    private static final int USED = 1;
    private static final int DROPPED = 2;
    private static final int PROVISIONAL = 4;
    private static final int GUESTS_ONLY = 8;

    private final LongColumn digestHighs = new LongColumn();
    private final LongColumn digestLows = new LongColumn();
    private final LongColumn etagDigests = new LongColumn();
    // incremented when the ordinal is assigned and when it is freed
    private final IntColumn bindings = new IntColumn();
    private final IntColumn fills = new IntColumn();
    private final IntColumn ramBlocks = new IntColumn();
    private final IntColumn ssdBlocks = new IntColumn();
    private final ByteColumn states = new ByteColumn();
    private final IntColumn tableNumbers = new IntColumn();
    private final HashChains byId = new HashChains(digestLows::get);
    private final RecordHeap records = new RecordHeap();
    private final SharedTexts texts = new SharedTexts();
    // by the number of the name; null for other texts
    private final List<StoredTable> tables = new ArrayList<>();

    private final LinkedHashSet<Integer> idle = new LinkedHashSet<>();
    // free ordinals are linked through the column of SSD block counts
    private int firstFree = HashChains.NONE;
    private int firstHeld = HashChains.NONE;
    private int lastHeld = HashChains.NONE;
    private int limit;
    private int holds;
    private long visits;

    public Optional<StoredFile> get(FileVersionId id)
    {
        int ordinal = find(id);
        return ordinal == HashChains.NONE ? Optional.empty() : Optional.of(file(ordinal));
    }

    private int find(FileVersionId id)
    {
        visits++;
        long high = id.digest().high();
        long low = id.digest().low();
        int ordinal = byId.first(low);
        while (ordinal != HashChains.NONE && (digestLows.get(ordinal) != low || digestHighs.get(ordinal) != high)) {
            ordinal = byId.next(ordinal);
        }
        return ordinal;
    }

    /**
     * Sizes an empty table for the given number of files, which makes adding them faster.
     */
    public void reserve(long files)
    {
        if (byId.size() == 0) {
            byId.reserve(files);
        }
    }

    /**
     * Prefetches into the processor's cache the memory that a lookup will read. A loop over several files takes little
     * longer than a single call.
     *
     * @param digestLow of its id
     * @return a meaningless number that keeps the read from being optimized away
     */
    int touch(long digestLow)
    {
        int ordinal = byId.first(digestLow);
        return ordinal == HashChains.NONE ? 0 : (int) digestLows.get(ordinal);
    }

    /**
     * Prefetches into the processor's cache the memory that {@link #addSsdBlocks} will read.
     */
    public int touchCounts(int ordinal)
    {
        return isUsed(ordinal) ? fills.get(ordinal) + ramBlocks.get(ordinal) + ssdBlocks.get(ordinal) + tableNumbers.get(ordinal) : 0;
    }

    private StoredFile file(int ordinal)
    {
        return new StoredFile(this, ordinal, bindings.get(ordinal), digestHighs.get(ordinal), digestLows.get(ordinal), etagDigests.get(ordinal));
    }

    /**
     * @return the file with the ordinal, even if it is dropped
     */
    public StoredFile byOrdinal(int ordinal)
    {
        verify(isUsed(ordinal), "no file has the ordinal %s", ordinal);
        return file(ordinal);
    }

    /**
     * @return the file with the ordinal, unless it is dropped
     */
    public Optional<StoredFile> find(int ordinal)
    {
        return isUsed(ordinal) && !isDropped(ordinal) ? Optional.of(file(ordinal)) : Optional.empty();
    }

    private boolean isUsed(int ordinal)
    {
        visits++;
        return ordinal >= 0 && ordinal < limit && (states.get(ordinal) & USED) != 0;
    }

    /**
     * Returns whether the file with the ordinal is dropped. Allocates nothing.
     */
    public boolean isDropped(int ordinal)
    {
        return (states.get(ordinal) & DROPPED) != 0;
    }

    public int size()
    {
        return byId.size();
    }

    public StoredFile add(FileVersionId id, FileMetadata metadata)
    {
        return add(id, metadata, metadata.etagDigest(), metadata.provisional() ? PROVISIONAL : 0);
    }

    /**
     * Adds a file version for guests only. The source worker reported the digest of the ETag, but not the ETag.
     */
    public StoredFile addForGuests(FileVersionId id, FileVersion version, String table, long etagDigest)
    {
        return add(id, new FileMetadata(version, Optional.empty(), false, table), etagDigest, GUESTS_ONLY);
    }

    /**
     * Returns whether guests bound the file. It has no other blocks then, and a response of the origin may replace the
     * binding.
     */
    public boolean isForGuests(StoredFile file)
    {
        return file.isKnown() && (states.get(file.ordinal()) & GUESTS_ONLY) != 0;
    }

    private StoredFile add(FileVersionId id, FileMetadata metadata, long etagDigest, int state)
    {
        verify(find(id) == HashChains.NONE, "file %s is bound already", id);
        RecordWriter record = record(metadata);
        return addRecord(id, etagDigest, state, record.bytes(), record.length(), tableNumber(ByteBuffer.wrap(record.bytes())));
    }

    /**
     * Adds a file by its record.
     *
     * @param textNumbers of its texts, which are already in use
     */
    StoredFile add(FileVersionId id, long etagDigest, boolean provisional, byte[] record, int recordLength, int[] textNumbers)
    {
        verify(find(id) == HashChains.NONE, "file %s is bound already", id);
        for (int number : textNumbers) {
            texts.addUse(number);
        }
        return addRecord(id, etagDigest, provisional ? PROVISIONAL : 0, record, recordLength, textNumbers[TABLE_TEXT]);
    }

    private StoredFile addRecord(FileVersionId id, long etagDigest, int state, byte[] record, int recordLength, int tableNumber)
    {
        int ordinal = firstFree;
        if (ordinal == HashChains.NONE) {
            ordinal = limit;
            limit++;
        }
        else {
            firstFree = ssdBlocks.get(ordinal);
        }
        digestHighs.set(ordinal, id.digest().high());
        digestLows.set(ordinal, id.digest().low());
        etagDigests.set(ordinal, etagDigest);
        bindings.set(ordinal, bindings.find(ordinal) + 1);
        fills.set(ordinal, 0);
        ramBlocks.set(ordinal, 0);
        ssdBlocks.set(ordinal, 0);
        states.set(ordinal, USED | state);
        records.add(ordinal, record, recordLength);
        tableNumbers.set(ordinal, tableNumber);
        makeTable(tableNumber);
        byId.link(ordinal);
        StoredFile file = file(ordinal);
        idle.add(ordinal);
        while (idle.size() > MAX_IDLE_FILES) {
            drop(idle.getFirst());
        }
        return file;
    }

    private static int tableNumber(ByteBuffer record)
    {
        for (int i = 0; i < 2 + TABLE_TEXT; i++) {
            RecordWriter.getNumber(record);
        }
        return (int) RecordWriter.getNumber(record);
    }

    /**
     * Returns the table for the number of its name. An object left from an earlier name with this number has zero
     * counts, so it is reused.
     */
    private StoredTable makeTable(int number)
    {
        while (tables.size() <= number) {
            tables.add(null);
        }
        if (tables.get(number) == null) {
            tables.set(number, new StoredTable());
        }
        return tables.get(number);
    }

    /**
     * Returns the table of the file with the ordinal.
     */
    public StoredTable table(int ordinal)
    {
        return tables.get(tableNumbers.get(ordinal));
    }

    /**
     * Returns the table with the name ({@code schema.table}), and keeps the object even without files.
     */
    public StoredTable keepTable(String name)
    {
        return makeTable(texts.use(name));
    }

    private RecordWriter record(FileMetadata metadata)
    {
        FileVersion version = metadata.version();
        String location = version.location();
        int nameStart = location.lastIndexOf('/') + 1;
        RecordWriter record = new RecordWriter();
        record.putNumber(version.length());
        record.putNumber((version.lastModifiedMillis() << 1) ^ (version.lastModifiedMillis() >> 63));
        record.putNumber(texts.use(version.origin().digest().toHex()));
        record.putNumber(texts.use(metadata.table()));
        record.putNumber(texts.use(location.substring(0, nameStart)));
        if (metadata.etag().isPresent()) {
            byte[] etag = CompactString.pack(metadata.etag().get());
            record.putNumber(etag.length + 1L);
            record.putRest(etag);
        }
        else {
            record.putNumber(0);
        }
        record.putBytes(ByteBuffer.wrap(CompactString.pack(location.substring(nameStart))));
        return record;
    }

    /**
     * Returns a copy of the file's record.
     */
    byte[] record(int ordinal)
    {
        ByteBuffer source = records.get(ordinal);
        int start = source.position();
        for (int i = 0; i < 2 + TEXTS; i++) {
            RecordWriter.getNumber(source);
        }
        getEtag(source);
        RecordWriter.getBytes(source);
        byte[] record = new byte[source.position() - start];
        source.get(start, record);
        return record;
    }

    boolean isProvisional(int ordinal)
    {
        return (states.get(ordinal) & PROVISIONAL) != 0;
    }

    byte[] compactString(int number)
    {
        return texts.packed(number);
    }

    int useText(ByteBuffer packed)
    {
        return texts.use(packed);
    }

    void releaseText(int number)
    {
        texts.release(number);
    }

    /**
     * Returns the length of the file in bytes, without decoding the rest of the record.
     */
    public long length(int ordinal)
    {
        return RecordWriter.getNumber(records.get(ordinal));
    }

    FileMetadata metadata(int ordinal)
    {
        ByteBuffer record = records.get(ordinal);
        long length = RecordWriter.getNumber(record);
        long zigzag = RecordWriter.getNumber(record);
        String origin = texts.get((int) RecordWriter.getNumber(record));
        String table = texts.get((int) RecordWriter.getNumber(record));
        String directory = texts.get((int) RecordWriter.getNumber(record));
        Optional<String> etag = getEtag(record).map(CompactString::unpack);
        String name = CompactString.unpack(RecordWriter.getBytes(record));
        FileVersion version = new FileVersion(new OriginId(Digest128.fromHex(origin)), directory + name, length, (zigzag >>> 1) ^ -(zigzag & 1));
        return new FileMetadata(version, etag, isProvisional(ordinal), table);
    }

    static Optional<ByteBuffer> getEtag(ByteBuffer record)
    {
        int mark = (int) RecordWriter.getNumber(record);
        return mark == 0 ? Optional.empty() : Optional.of(RecordWriter.getRest(record, mark - 1));
    }

    /**
     * Returns the length of the file version in bytes. Allocates no metadata.
     */
    public long lengthBytes(StoredFile file)
    {
        verify(file.isKnown(), "file %s is not in the table any more", file);
        return RecordWriter.getNumber(records.get(file.ordinal()));
    }

    /**
     * Returns the total UTF-8 length of the file's location, table and ETag.
     */
    public int textBytes(StoredFile file)
    {
        verify(file.isKnown(), "file %s is not in the table any more", file);
        return textBytes(file.ordinal());
    }

    int utf8Length(int textNumber)
    {
        return texts.utf8Length(textNumber);
    }

    /**
     * Returns the total UTF-8 length of location, table and ETag of the file with the ordinal.
     */
    public int textBytes(int ordinal)
    {
        ByteBuffer record = records.get(ordinal);
        RecordWriter.getNumber(record);
        RecordWriter.getNumber(record);
        RecordWriter.getNumber(record);
        int table = texts.utf8Length((int) RecordWriter.getNumber(record));
        int directory = texts.utf8Length((int) RecordWriter.getNumber(record));
        int etag = getEtag(record).map(CompactString::utf8Length).orElse(0);
        return table + directory + etag + CompactString.utf8Length(RecordWriter.getBytes(record));
    }

    int binding(int ordinal)
    {
        return bindings.get(ordinal);
    }

    int ramBlocks(int ordinal)
    {
        return ramBlocks.get(ordinal);
    }

    int ssdBlocks(int ordinal)
    {
        return ssdBlocks.get(ordinal);
    }

    public void confirm(StoredFile file)
    {
        verify(!file.isDropped(), "file %s is dropped", file);
        states.set(file.ordinal(), states.get(file.ordinal()) & ~PROVISIONAL);
    }

    /**
     * Drops the file version. The caller has to remove its blocks.
     */
    public void drop(StoredFile file)
    {
        verify(!file.isDropped(), "file %s is not in the table", file.id());
        drop(file.ordinal());
    }

    private void drop(int ordinal)
    {
        byId.unlink(ordinal);
        states.set(ordinal, states.get(ordinal) | DROPPED);
        if (idle.remove(ordinal)) {
            free(ordinal);
        }
    }

    public void addFills(StoredFile file, int count)
    {
        add(file, fills, count);
    }

    public void addRamBlocks(StoredFile file, int count)
    {
        add(file, ramBlocks, count);
    }

    /**
     * @param bytes of the blocks; negative on removal
     */
    public void addSsdBlocks(int ordinal, int count, long bytes)
    {
        table(ordinal).addSsdBytes(bytes);
        add(ordinal, ssdBlocks, count);
    }

    private void add(StoredFile file, IntColumn column, int count)
    {
        verify(file.isKnown(), "file %s is not in the table any more", file);
        add(file.ordinal(), column, count);
    }

    private void add(int ordinal, IntColumn column, int count)
    {
        verify(isUsed(ordinal), "no file has the ordinal %s", ordinal);
        boolean wasIdle = isIdle(ordinal);
        int counted = column.get(ordinal) + count;
        verify(counted >= 0, "count of file %s is negative", ordinal);
        column.set(ordinal, counted);
        if (isIdle(ordinal) == wasIdle) {
            return;
        }
        if (wasIdle) {
            idle.remove(ordinal);
        }
        else if (isDropped(ordinal)) {
            free(ordinal);
        }
        else {
            idle.add(ordinal);
        }
    }

    /**
     * Returns whether a known file has no blocks and no fills, so that it may be forgotten.
     */
    public boolean isIdle(StoredFile file)
    {
        return file.isKnown() && isIdle(file.ordinal());
    }

    private boolean isIdle(int ordinal)
    {
        return fills.get(ordinal) == 0 && ramBlocks.get(ordinal) == 0 && ssdBlocks.get(ordinal) == 0;
    }

    private void free(int ordinal)
    {
        ByteBuffer record = records.get(ordinal);
        RecordWriter.getNumber(record);
        RecordWriter.getNumber(record);
        int origin = (int) RecordWriter.getNumber(record);
        int table = (int) RecordWriter.getNumber(record);
        int directory = (int) RecordWriter.getNumber(record);
        records.remove(ordinal);
        texts.release(origin);
        texts.release(table);
        texts.release(directory);
        states.set(ordinal, 0);
        // invalidates remaining references to the binding
        bindings.set(ordinal, bindings.get(ordinal) + 1);
        if (holds == 0) {
            ssdBlocks.set(ordinal, firstFree);
            firstFree = ordinal;
        }
        else {
            ssdBlocks.set(ordinal, firstHeld);
            firstHeld = ordinal;
            lastHeld = lastHeld == HashChains.NONE ? ordinal : lastHeld;
        }
    }

    /**
     * Prevents the reuse of ordinals and text numbers until {@link #releaseOrdinals}.
     */
    public void holdOrdinals()
    {
        holds++;
        texts.hold();
    }

    public void releaseOrdinals()
    {
        holds--;
        texts.unhold();
        if (holds > 0 || firstHeld == HashChains.NONE) {
            return;
        }
        // there may be millions, so both lists are joined
        ssdBlocks.set(lastHeld, firstFree);
        firstFree = firstHeld;
        firstHeld = HashChains.NONE;
        lastHeld = HashChains.NONE;
    }

    /**
     * Visits the files in a range of ordinals, except dropped ones.
     */
    public void collect(int firstOrdinal, int endOrdinal, FileVisitor visitor)
    {
        for (int ordinal = firstOrdinal; ordinal < Math.min(endOrdinal, limit); ordinal++) {
            if (isUsed(ordinal) && !isDropped(ordinal)) {
                visitor.visit(digestHighs.get(ordinal), ordinal);
            }
        }
    }

    public interface FileVisitor
    {
        void visit(long digestHigh, int ordinal);
    }

    /**
     * Returns the exclusive upper bound of ordinals.
     */
    public int ordinalLimit()
    {
        return limit;
    }

    /**
     * Returns the number of files that were looked up or visited. Tests use it to bound the work under the lock.
     */
    public long visits()
    {
        return visits;
    }

    /**
     * Returns the number of different shared texts. For tests.
     */
    int sharedTexts()
    {
        return texts.size();
    }
}
