package io.cachedhive.store.ssd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.store.disk.DiskFile;
import io.cachedhive.store.encryption.DataCipher;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32C;

import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * The changes of a directory since its checkpoints, in a circular file of fixed size.
 *
 * <p>Records are collected in memory and written in batches. Each batch is synced before the next one is written. An
 * LSN is the number of bytes written since the directory was formatted; modulo the file size, it is the offset in the
 * file. A batch starts at a multiple of 4 KiB and contains its LSN. So a batch of an earlier round is never mistaken
 * for a newer one, and no sector of a synced batch is written again. The part before the older checkpoint is free; the
 * part before the newer one is not, because the newer checkpoint may turn out to be damaged.
 *
 * <p>If the last batch does not verify, a power failure may have torn it, or it was damaged later. Recovery cannot
 * distinguish these cases and ignores the batch. A drop must not be lost that way, so {@link #flushAndSeal} writes an
 * empty batch after it. Then the batch is not the last one, and recovery detects its damage.
 *
 * <pre>
 *   batch    0 magic            8 store id (16)    24 LSN     32 length of the batch, a multiple of 4096
 *           36 length of the body    40 zero    60 CRC32C of the 60 bytes before and of the body
 *           64 body: records, each a length of 4 bytes and the bytes; an empty body seals the batches before it,
 *              or fills the end of the file
 * </pre>
 */
final class Journal
{
    private static final int PAGE_BYTES = 4096;
    private static final long MAGIC = 0x4C_4E_52_4A_56_48_43_1BL; // 1B "CHVJRNL"
    private static final int STORE_OFFSET = 8;
    private static final int LSN_OFFSET = 24;
    private static final int LENGTH_OFFSET = 32;
    private static final int BODY_LENGTH_OFFSET = 36;
    private static final int CHECKSUM_OFFSET = 60;
    private static final int HEADER_BYTES = 64;
    private static final int MAX_BATCH_BYTES = 256 << 10;
    private static final int WINDOW_BYTES = 1 << 20;

    /**
     * Above any real LSN, and low enough that sums with file sizes do not overflow.
     */
    static final long MAX_LSN = 1L << 62;

    private final DiskFile file;
    private final Digest128 storeId;
    private final Optional<DataCipher> cipher;
    private final long sizeBytes;
    private final int maxBatchBytes;
    private final ReentrantLock storeLock;
    private final ReentrantLock writeLock = new ReentrantLock();
    private final ByteBuffer buffer;
    private final int maxBodyBytes;

    @GuardedBy("storeLock")
    private List<byte[]> pending = new ArrayList<>();
    @GuardedBy("storeLock")
    private long pendingBytes;
    @GuardedBy("storeLock")
    private boolean broken;

    // written by the holder of the write lock
    private volatile long nextLsn;
    private volatile long liveLsn;
    // whether the last batch is empty
    @GuardedBy("writeLock")
    private boolean sealed;
    // whether a batch was written and synced since the journal was opened or restarted
    @GuardedBy("writeLock")
    private boolean marked;

    /**
     * @param cipher encrypts the records
     * @param nextLsn LSN of the next batch
     * @param liveLsn start of the required part
     */
    Journal(DiskFile file, Digest128 storeId, Optional<DataCipher> cipher, long sizeBytes, ReentrantLock storeLock, long nextLsn, long liveLsn)
    {
        this.file = requireNonNull(file, "file is null");
        this.storeId = requireNonNull(storeId, "storeId is null");
        this.cipher = requireNonNull(cipher, "cipher is null");
        this.sizeBytes = sizeBytes;
        this.maxBatchBytes = maxBatchBytes(sizeBytes);
        this.maxBodyBytes = maxBatchBytes - HEADER_BYTES - (cipher.isPresent() ? DataCipher.OVERHEAD_BYTES : 0);
        this.storeLock = requireNonNull(storeLock, "storeLock is null");
        this.nextLsn = nextLsn;
        this.liveLsn = liveLsn;
        this.buffer = ByteBuffer.allocateDirect(maxBatchBytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static int maxBatchBytes(long sizeBytes)
    {
        return (int) Math.min(MAX_BATCH_BYTES, sizeBytes / 16) & -PAGE_BYTES;
    }

    static long firstLsn(long sizeBytes)
    {
        return sizeBytes;
    }

    /**
     * Appends a record. The caller holds the store's lock, under which it also made the change.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    void append(byte[] entry)
    {
        verify(storeLock.isHeldByCurrentThread(), "the store's lock is not held");
        verify(entry.length + 4 <= maxBodyBytes, "journal record is too long: %s", entry.length);
        if (!broken) {
            pending.add(entry);
            pendingBytes += entry.length + 4;
        }
    }

    /**
     * Returns whether optional changes may be appended; the remaining capacity is reserved for mandatory ones.
     */
    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    boolean hasRoom()
    {
        return !broken && usedBytes() + pendingBytes + 2L * maxBatchBytes <= sizeBytes;
    }

    @SuppressWarnings("GuardedBy") // the caller holds the store's lock
    boolean isBroken()
    {
        return broken;
    }

    private long usedBytes()
    {
        return nextLsn - liveLsn;
    }

    /**
     * Returns the bytes written since an LSN.
     */
    long bytesSince(long lsn)
    {
        return nextLsn - lsn;
    }

    /**
     * Makes all appended records durable.
     *
     * @throws IOException if it fails; the journal then rejects records until {@link #restart}
     */
    void flush()
            throws IOException
    {
        writeLock.lock();
        try {
            List<byte[]> entries = take();
            if (!entries.isEmpty()) {
                writeAll(entries);
            }
        }
        finally {
            writeLock.unlock();
        }
    }

    /**
     * Makes all appended records durable and, while the journal has much free space, seals them with an empty batch.
     * Damage to a single place of the file then cannot hide them.
     *
     * <p>Also writes an empty batch if there is none since the journal was opened or restarted, even without records.
     * After a restart, records are missing; a batch after the gap keeps recovery from trusting the part before it.
     * After an opening, the last records of the earlier run may be unsynced although they were read; if a power failure
     * loses them, that leaves a gap before the batch too.
     */
    void flushAndSeal()
            throws IOException
    {
        writeLock.lock();
        try {
            flush();
            if (!marked) {
                writeEmptyBatch();
                // it represents the missing records, and needs a seal like them
                sealed = false;
            }
            // seals use at most a quarter, because a full journal would require invalidating the directory
            if (!sealed && usedBytes() <= sizeBytes / 4) {
                writeEmptyBatch();
            }
        }
        finally {
            writeLock.unlock();
        }
    }

    @GuardedBy("writeLock")
    private void writeEmptyBatch()
            throws IOException
    {
        boolean success = false;
        try {
            writeBatch(ByteBuffer.allocateDirect(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN), PAGE_BYTES, 0);
            success = true;
        }
        finally {
            if (!success) {
                setBroken();
            }
        }
    }

    /**
     * The journal rejects a write because of an earlier, reported failure.
     */
    static final class BrokenException
            extends IOException
    {
        BrokenException()
        {
            super("the journal cannot be written since an earlier failure");
        }
    }

    private void setBroken()
    {
        storeLock.lock();
        try {
            broken = true;
            pending.clear();
            pendingBytes = 0;
        }
        finally {
            storeLock.unlock();
        }
    }

    private List<byte[]> take()
            throws IOException
    {
        storeLock.lock();
        try {
            if (broken) {
                throw new BrokenException();
            }
            List<byte[]> taken = pending;
            pending = new ArrayList<>();
            pendingBytes = 0;
            return taken;
        }
        finally {
            storeLock.unlock();
        }
    }

    @GuardedBy("writeLock")
    private void writeAll(List<byte[]> entries)
            throws IOException
    {
        boolean success = false;
        try {
            clearBuffer();
            for (byte[] entry : entries) {
                if (buffer.remaining() < entry.length + 4) {
                    writeBatch();
                    clearBuffer();
                }
                buffer.putInt(entry.length).put(entry);
            }
            writeBatch();
            success = true;
        }
        finally {
            if (!success) {
                setBroken();
            }
        }
    }

    private void clearBuffer()
    {
        buffer.clear().position(HEADER_BYTES).limit(HEADER_BYTES + maxBodyBytes);
    }

    private void sealBody(DataCipher sealing)
    {
        byte[] body = new byte[buffer.position() - HEADER_BYTES];
        buffer.get(HEADER_BYTES, body);
        buffer.position(HEADER_BYTES).put(sealing.seal(associatedData(storeId, nextLsn), body));
    }

    /**
     * Returns the place of an encrypted batch.
     */
    private static byte[] associatedData(Digest128 storeId, long lsn)
    {
        return ByteBuffer.allocate(Long.BYTES * 4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(MAGIC)
                .putLong(storeId.high())
                .putLong(storeId.low())
                .putLong(lsn)
                .array();
    }

    @GuardedBy("writeLock")
    private void writeBatch()
            throws IOException
    {
        buffer.limit(buffer.capacity());
        int bodyLength = buffer.position() - HEADER_BYTES + (cipher.isPresent() ? DataCipher.OVERHEAD_BYTES : 0);
        int length = alignUp(HEADER_BYTES + bodyLength);
        long left = sizeBytes - nextLsn % sizeBytes;
        if (left < length) {
            ByteBuffer filler = ByteBuffer.allocateDirect(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            writeBatch(filler, (int) left, 0);
        }
        // only now, because the LSN of the batch is known after the filler
        cipher.ifPresent(this::sealBody);
        while (buffer.position() < length) {
            buffer.put((byte) 0);
        }
        buffer.flip();
        writeBatch(buffer, length, bodyLength);
    }

    @GuardedBy("writeLock")
    private void writeBatch(ByteBuffer batch, int length, int bodyLength)
            throws IOException
    {
        if (usedBytes() + length > sizeBytes) {
            throw new IOException("the journal is full");
        }
        batch.putLong(0, MAGIC);
        batch.putLong(STORE_OFFSET, storeId.high());
        batch.putLong(STORE_OFFSET + 8, storeId.low());
        batch.putLong(LSN_OFFSET, nextLsn);
        batch.putInt(LENGTH_OFFSET, length);
        batch.putInt(BODY_LENGTH_OFFSET, bodyLength);
        for (int i = BODY_LENGTH_OFFSET + 4; i < CHECKSUM_OFFSET; i++) {
            batch.put(i, (byte) 0);
        }
        batch.putInt(CHECKSUM_OFFSET, checksum(batch, 0, bodyLength));
        file.write(nextLsn % sizeBytes, batch);
        file.sync();
        nextLsn += length;
        sealed = bodyLength == 0;
        marked = true;
    }

    /**
     * Returns the replay start for a checkpoint that begins now. All records before it are durable.
     */
    long boundary()
            throws IOException
    {
        writeLock.lock();
        try {
            if (isBrokenNow()) {
                restart();
            }
            else {
                flush();
            }
            return nextLsn;
        }
        finally {
            writeLock.unlock();
        }
    }

    private boolean isBrokenNow()
    {
        storeLock.lock();
        try {
            return broken;
        }
        finally {
            storeLock.unlock();
        }
    }

    /**
     * Accepts records again, at an LSN beyond a failed write. The caller writes a new checkpoint, because the older
     * ones lack the lost records. Until it is complete, the older ones remain valid. So a drop among the lost records
     * becomes durable only with a batch after the gap, which is why this resets the seal.
     */
    @GuardedBy("writeLock")
    private void restart()
    {
        storeLock.lock();
        try {
            nextLsn = (nextLsn / sizeBytes + 2) * sizeBytes;
            liveLsn = nextLsn;
            broken = false;
        }
        finally {
            storeLock.unlock();
        }
        sealed = false;
        marked = false;
    }

    /**
     * Sets the start of the required part.
     */
    void setLiveLsn(long lsn)
    {
        liveLsn = Math.max(liveLsn, lsn);
    }

    long nextLsn()
    {
        return nextLsn;
    }

    private static int alignUp(int length)
    {
        return (length + PAGE_BYTES - 1) & -PAGE_BYTES;
    }

    private static int checksum(ByteBuffer batch, int offset, int bodyLength)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(batch.slice(offset, CHECKSUM_OFFSET));
        checksum.update(batch.slice(offset + HEADER_BYTES, bodyLength));
        return (int) checksum.getValue();
    }

    record Batch(long lsn, int length, int bodyLength)
    {
        long end()
        {
            return lsn + length;
        }
    }

    enum Ending
    {
        /**
         * Nothing follows.
         */
        COMPLETE,
        /**
         * An incomplete batch follows.
         */
        TORN,
        /**
         * A batch in the middle is damaged, because later synced batches exist.
         */
        CORRUPT,
        /**
         * The first batch was overwritten or damaged, and later ones exist.
         */
        GAP,
    }

    /**
     * @param batches without a gap, from the start LSN
     * @param endLsn end of the last batch
     */
    record Tail(List<Batch> batches, long endLsn, Ending ending) {}

    /**
     * Returns all valid batches of a file, ordered by LSN.
     */
    static List<Batch> scan(DiskFile file, Digest128 storeId, long sizeBytes)
            throws IOException
    {
        int maxBatchBytes = maxBatchBytes(sizeBytes);
        List<Batch> batches = new ArrayList<>();
        ByteBuffer window = ByteBuffer.allocateDirect((int) Math.min(WINDOW_BYTES, sizeBytes)).order(ByteOrder.LITTLE_ENDIAN);
        long windowStart = 0;
        window.limit(0);
        long position = 0;
        while (position + PAGE_BYTES <= sizeBytes) {
            long wanted = Math.min(position + maxBatchBytes, sizeBytes);
            if (wanted > windowStart + window.limit()) {
                window.clear();
                file.read(position, window);
                window.flip();
                windowStart = position;
                if (window.limit() < PAGE_BYTES) {
                    break;
                }
            }
            int offset = (int) (position - windowStart);
            if (offset + HEADER_BYTES > window.limit()) {
                break;
            }
            int length = PAGE_BYTES;
            if (window.getLong(offset) == MAGIC && window.getLong(offset + STORE_OFFSET) == storeId.high() && window.getLong(offset + STORE_OFFSET + 8) == storeId.low()) {
                long lsn = window.getLong(offset + LSN_OFFSET);
                int batchLength = window.getInt(offset + LENGTH_OFFSET);
                int bodyLength = window.getInt(offset + BODY_LENGTH_OFFSET);
                boolean plausible = lsn >= 0
                        && lsn <= MAX_LSN
                        && lsn % sizeBytes == position
                        && batchLength > 0
                        && batchLength % PAGE_BYTES == 0
                        && batchLength <= sizeBytes - position
                        && bodyLength >= 0
                        && bodyLength <= Math.min(batchLength, maxBatchBytes) - HEADER_BYTES
                        && offset + HEADER_BYTES + bodyLength <= window.limit();
                if (plausible && window.getInt(offset + CHECKSUM_OFFSET) == checksum(window, offset, bodyLength)) {
                    batches.add(new Batch(lsn, batchLength, bodyLength));
                    // the pages that a filler skips may have older batches
                    length = bodyLength == 0 ? PAGE_BYTES : batchLength;
                }
            }
            position += length;
        }
        batches.sort(Comparator.comparingLong(Batch::lsn));
        return batches;
    }

    /**
     * Returns the part of the journal from an LSN on.
     *
     * @param batches from {@link #scan}
     */
    static Tail tail(List<Batch> batches, long startLsn, DiskFile file, long sizeBytes)
            throws IOException
    {
        List<Batch> tail = new ArrayList<>();
        long lsn = startLsn;
        for (Batch batch : batches) {
            if (batch.lsn() < startLsn) {
                continue;
            }
            if (batch.lsn() != lsn) {
                return new Tail(tail, lsn, tail.isEmpty() ? Ending.GAP : Ending.CORRUPT);
            }
            tail.add(batch);
            lsn = batch.end();
        }
        return new Tail(tail, lsn, isBegun(batches, file, lsn, sizeBytes) ? Ending.TORN : Ending.COMPLETE);
    }

    /**
     * Returns whether a batch was partly written: the header has the LSN, or the magic without being a valid older
     * batch.
     */
    private static boolean isBegun(List<Batch> batches, DiskFile file, long lsn, long sizeBytes)
            throws IOException
    {
        ByteBuffer header = ByteBuffer.allocateDirect(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        if (file.read(lsn % sizeBytes, header) < HEADER_BYTES) {
            return false;
        }
        if (header.getLong(LSN_OFFSET) == lsn) {
            return true;
        }
        return header.getLong(0) == MAGIC && batches.stream().noneMatch(batch -> batch.lsn() % sizeBytes == lsn % sizeBytes);
    }

    interface EntryReader
    {
        void read(byte[] entry)
                throws IOException;
    }

    /**
     * Reads the records of a valid batch.
     */
    static void readBatch(DiskFile file, Batch batch, Digest128 storeId, Optional<DataCipher> cipher, long sizeBytes, EntryReader reader)
            throws IOException
    {
        ByteBuffer body = ByteBuffer.allocateDirect(batch.bodyLength()).order(ByteOrder.LITTLE_ENDIAN);
        if (file.read(batch.lsn() % sizeBytes + HEADER_BYTES, body) < batch.bodyLength()) {
            throw new WireException("the journal became shorter while it was read");
        }
        body.flip();
        if (cipher.isPresent() && body.hasRemaining()) {
            byte[] sealed = new byte[body.remaining()];
            body.get(sealed);
            try {
                body = ByteBuffer.wrap(cipher.get().open(associatedData(storeId, batch.lsn()), sealed)).order(ByteOrder.LITTLE_ENDIAN);
            }
            catch (DataCipher.UnauthenticException e) {
                throw new WireException("the batch at %s cannot be decrypted: %s".formatted(batch.lsn(), e.getMessage()));
            }
        }
        while (body.hasRemaining()) {
            int length = body.remaining() < 4 ? -1 : body.getInt();
            if (length < 0 || length > body.remaining()) {
                throw new WireException("a journal record is truncated");
            }
            byte[] entry = new byte[length];
            body.get(entry);
            reader.read(entry);
        }
    }
}
