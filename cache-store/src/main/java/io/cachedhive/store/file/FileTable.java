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
 * The file versions of which the store has blocks, or had a moment ago. Guarded by the store's lock.
 *
 * <p>Invariants: a file that is not dropped is found by its id; a file with blocks or fills keeps its ordinal; an ordinal is given to
 * another file only when nothing is counted for it any more, and no checkpoint is being written that may name it.
 *
 * <p>There is no object per file: a file is its ordinal, with fields in columns and the rest in a record. Names of directories, tables and origins are
 * shared, and UUIDs and hexadecimal digests packed.
 * <pre>
 *   columns    id (16)    digest of the ETag (8)    binding (4)    fills (4)    blocks in RAM (4)    blocks on SSD (4)    state (1)
 *              number of the table's name (4)
 *              chain and bucket of the id (8)       place of the record (5)
 *   record     length    last-modified, zigzag    origin, table, directory: numbers of shared texts
 *              ETag: number of bytes + 1, or 0 without one, packed text    name within the directory: packed text
 * </pre>
 */
public final class FileTable
{
    // files without blocks are kept for a while: between the bind and the first block, and so that a later fill meets the same ETag
    private static final int MAX_IDLE_FILES = 10_000;

    /**
     * Shared texts that a record has, behind its first two numbers.
     */
    static final int TEXTS = 3;
    // among them
    private static final int TABLE_TEXT = 1;

    // bits of the state; 0 is a free ordinal
    private static final int USED = 1;
    private static final int DROPPED = 2;
    private static final int PROVISIONAL = 4;
    private static final int GUESTS_ONLY = 8;

    private final LongColumn digestHighs = new LongColumn();
    private final LongColumn digestLows = new LongColumn();
    private final LongColumn etagDigests = new LongColumn();
    // grows whenever the ordinal is given away and whenever it is free again
    private final IntColumn bindings = new IntColumn();
    private final IntColumn fills = new IntColumn();
    private final IntColumn ramBlocks = new IntColumn();
    private final IntColumn ssdBlocks = new IntColumn();
    private final ByteColumn states = new ByteColumn();
    private final IntColumn tableNumbers = new IntColumn();
    private final HashChains byId = new HashChains(digestLows::get);
    private final RecordHeap records = new RecordHeap();
    private final SharedTexts texts = new SharedTexts();
    // by the numbers of their names; null for other texts
    private final List<StoredTable> tables = new ArrayList<>();

    private final LinkedHashSet<Integer> idle = new LinkedHashSet<>();
    // free ordinals are chained by what counts blocks on SSD otherwise
    private int firstFree = HashChains.NONE;
    private int firstHeld = HashChains.NONE;
    private int limit;
    private int holds;

    public Optional<StoredFile> get(FileVersionId id)
    {
        int ordinal = find(id);
        return ordinal == HashChains.NONE ? Optional.empty() : Optional.of(file(ordinal));
    }

    private int find(FileVersionId id)
    {
        long high = id.digest().high();
        long low = id.digest().low();
        int ordinal = byId.first(low);
        while (ordinal != HashChains.NONE && (digestLows.get(ordinal) != low || digestHighs.get(ordinal) != high)) {
            ordinal = byId.next(ordinal);
        }
        return ordinal;
    }

    /**
     * Prepares for so many files, if there is none yet: adding them takes less time then.
     */
    public void reserve(long files)
    {
        if (byId.size() == 0) {
            byId.reserve(files);
        }
    }

    /**
     * Brings what a search for a file will look at into the processor's cache: for several files one after the other this takes little more than for one.
     *
     * @param digestLow of its id
     * @return of no use, so that it is not optimised away
     */
    int touch(long digestLow)
    {
        int ordinal = byId.first(digestLow);
        return ordinal == HashChains.NONE ? 0 : (int) digestLows.get(ordinal);
    }

    /**
     * Likewise, what {@link #addSsdBlocks} will look at.
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
     * @return the file with the ordinal, also if it is dropped
     */
    public StoredFile byOrdinal(int ordinal)
    {
        verify(isUsed(ordinal), "no file has the ordinal %s", ordinal);
        return file(ordinal);
    }

    /**
     * @return the file with the ordinal, if there is one that is not dropped
     */
    public Optional<StoredFile> find(int ordinal)
    {
        return isUsed(ordinal) && !isDropped(ordinal) ? Optional.of(file(ordinal)) : Optional.empty();
    }

    private boolean isUsed(int ordinal)
    {
        return ordinal >= 0 && ordinal < limit && (states.get(ordinal) & USED) != 0;
    }

    /**
     * Whether the file with the ordinal is dropped, with no object made.
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
     * A file version of which there are guests only: whoever had them told the digest of the ETag, and nobody the ETag.
     */
    public StoredFile addForGuests(FileVersionId id, FileVersion version, String table, long etagDigest)
    {
        return add(id, new FileMetadata(version, Optional.empty(), false, table), etagDigest, GUESTS_ONLY);
    }

    /**
     * Whether the file was bound by guests: it has no other blocks then, and is not to stand in the way of what the origin itself says.
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
     * @param textNumbers of its texts, which are in use
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
     * A number that was another text's before has a table that nothing is counted for: it serves as well.
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
     * The table of the file that has the ordinal.
     */
    public StoredTable table(int ordinal)
    {
        return tables.get(tableNumbers.get(ordinal));
    }

    /**
     * The table with the name ({@code schema.table}), which is the same one from now on, with files or without.
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
     * A copy of the file's record.
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
     * Bytes of the file, without the rest of what is known of it.
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
     * Of the file version, with no object made.
     */
    public long lengthBytes(StoredFile file)
    {
        verify(file.isKnown(), "file %s is not in the table any more", file);
        return RecordWriter.getNumber(records.get(file.ordinal()));
    }

    /**
     * How many bytes of UTF-8 location, table and ETag of the file have together.
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
     * Likewise, of the file that has the ordinal.
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
     * From now on the file version is unknown; what is left of the old binding has to be removed by the caller.
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
     * @param bytes of the blocks; below 0 if they leave
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
        verify(counted >= 0, "less than nothing is counted for file %s", ordinal);
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
     * Whether nothing is counted for a known file, so that it may be forgotten.
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
        // whoever still names the binding finds that it is gone
        bindings.set(ordinal, bindings.get(ordinal) + 1);
        if (holds == 0) {
            ssdBlocks.set(ordinal, firstFree);
            firstFree = ordinal;
        }
        else {
            ssdBlocks.set(ordinal, firstHeld);
            firstHeld = ordinal;
        }
    }

    /**
     * While held, no ordinal is given to another file, and no number to another text.
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
        if (holds > 0) {
            return;
        }
        while (firstHeld != HashChains.NONE) {
            int ordinal = firstHeld;
            firstHeld = ssdBlocks.get(ordinal);
            ssdBlocks.set(ordinal, firstFree);
            firstFree = ordinal;
        }
    }

    /**
     * Shows those of the files with such ordinals that are not dropped.
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
     * Ordinals are below this.
     */
    public int ordinalLimit()
    {
        return limit;
    }

    /**
     * How many different texts files share: for tests.
     */
    int sharedTexts()
    {
        return texts.size();
    }
}
