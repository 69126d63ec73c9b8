package io.cachedhive.worker.state;

import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.DiskFile;
import io.cachedhive.store.encryption.DataCipher;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.CRC32C;

import static java.util.Objects.requireNonNull;

/**
 * A file of records that grows at its end. After the process was killed, a record is complete or absent. After a power
 * failure, all records from some record after the last {@link #sync} on may be absent.
 *
 * <pre>
 *   0              8        12       16
 *   +--------------+--------+--------+----------+--------+-----
 *   | magic number | length | CRC32C | body ... | length | ...
 *   +--------------+--------+--------+----------+--------+-----
 * </pre>
 *
 * All numbers are little-endian. In an encrypted directory, each body is encrypted for its place in the file. Nothing
 * may be appended to a file with bytes after its last complete record, because parts of them could then be read as
 * records: write a new file instead. Not safe for use by several threads.
 */
public final class RecordLog
        implements Closeable
{
    private static final int HEADER_BYTES = 8;
    private static final int RECORD_HEADER_BYTES = 8;
    // a longer record was not written by this code
    private static final int MAX_RECORD_BYTES = 256 << 20;
    private static final int INITIAL_BUFFER_BYTES = 64 << 10;

    private final Disk disk;
    private final Path path;
    private final DiskFile file;
    private final Optional<DataCipher> cipher;
    private final long magic;
    private ByteBuffer buffer = directBuffer(INITIAL_BUFFER_BYTES);
    private long size;

    private RecordLog(Disk disk, Path path, DiskFile file, Optional<DataCipher> cipher, long magic)
    {
        this.disk = requireNonNull(disk, "disk is null");
        this.path = requireNonNull(path, "path is null");
        this.file = requireNonNull(file, "file is null");
        this.cipher = requireNonNull(cipher, "cipher is null");
        this.magic = magic;
    }

    public interface RecordReader
    {
        void read(WireReader record)
                throws WireException;
    }

    /**
     * A log that was read.
     *
     * @param complete whether the file ends with its last record; otherwise nothing may be appended to it
     */
    public record Opened(RecordLog log, boolean complete) {}

    /**
     * Creates an empty log beside the one of this name, which it replaces when it is published.
     */
    public static RecordLog create(StateDirectory state, String name, long magic)
            throws IOException
    {
        Path beside = state.path().resolve(name + ".new");
        // an interrupted replacement may have left a longer file
        state.disk().delete(beside);
        RecordLog log = new RecordLog(state.disk(), beside, state.disk().open(beside, true, Disk.Access.BUFFERED), state.cipher(), magic);
        try {
            log.write(directBuffer(HEADER_BYTES).putLong(magic).flip());
        }
        catch (IOException e) {
            log.close();
            throw e;
        }
        return log;
    }

    /**
     * Opens a log and reads its complete records.
     *
     * @return empty if there is no such file
     * @throws IOException if the file cannot be read or is something else
     */
    public static Optional<Opened> open(StateDirectory state, String name, long magic, RecordReader reader)
            throws IOException
    {
        Path path = state.path().resolve(name);
        if (!state.disk().exists(path)) {
            return Optional.empty();
        }
        RecordLog log = new RecordLog(state.disk(), path, state.disk().open(path, false, Disk.Access.BUFFERED), state.cipher(), magic);
        try {
            ByteBuffer header = directBuffer(HEADER_BYTES);
            if (log.file.read(0, header) < HEADER_BYTES || header.getLong(0) != magic) {
                throw new WireException("%s is not a file of this kind".formatted(path));
            }
            log.size = HEADER_BYTES;
            long fileSize = log.file.size();
            while (log.readRecord(fileSize, reader)) {
                // the position is in the log
            }
            return Optional.of(new Opened(log, log.size == fileSize));
        }
        catch (DataCipher.UnauthenticException e) {
            log.close();
            state.removeUnreadable(name);
            throw e;
        }
        catch (IOException | RuntimeException e) {
            log.close();
            throw e;
        }
    }

    private boolean readRecord(long fileSize, RecordReader reader)
            throws IOException
    {
        long left = fileSize - size - RECORD_HEADER_BYTES;
        if (left < 0) {
            return false;
        }
        ByteBuffer header = directBuffer(RECORD_HEADER_BYTES);
        if (file.read(size, header) < RECORD_HEADER_BYTES) {
            return false;
        }
        int length = header.getInt(0);
        if (length < 0 || length > Math.min(left, MAX_RECORD_BYTES)) {
            return false;
        }
        ByteBuffer body = buffer(length).limit(length);
        if (file.read(size + RECORD_HEADER_BYTES, body) < length || checksum(body.flip()) != header.getInt(4)) {
            return false;
        }
        reader.read(new WireReader(cipher.isPresent() ? decrypt(cipher.get(), body) : body.slice()));
        size += RECORD_HEADER_BYTES + length;
        return true;
    }

    private ByteBuffer decrypt(DataCipher present, ByteBuffer body)
            throws IOException
    {
        byte[] sealed = new byte[body.remaining()];
        body.get(sealed);
        return ByteBuffer.wrap(present.open(place(), sealed));
    }

    /**
     * Returns the place of the record at the end of the log.
     */
    private byte[] place()
    {
        return ByteBuffer.allocate(Long.BYTES * 2).order(ByteOrder.LITTLE_ENDIAN).putLong(magic).putLong(size).array();
    }

    /**
     * Appends a record. After a failure, nothing more may be appended.
     */
    public void append(ByteBuffer record)
            throws IOException
    {
        ByteBuffer body = record.duplicate();
        if (cipher.isPresent()) {
            byte[] plain = new byte[body.remaining()];
            body.get(plain);
            body = ByteBuffer.wrap(cipher.get().seal(place(), plain));
        }
        int length = body.remaining();
        if (length > MAX_RECORD_BYTES) {
            throw new IllegalArgumentException("record has more than %s bytes: %s".formatted(MAX_RECORD_BYTES, length));
        }
        ByteBuffer framed = buffer(RECORD_HEADER_BYTES + length)
                .putInt(length)
                .putInt(checksum(body))
                .put(body)
                .flip();
        write(framed);
    }

    private void write(ByteBuffer bytes)
            throws IOException
    {
        int length = bytes.remaining();
        file.write(size, bytes);
        size += length;
    }

    /**
     * Makes all records durable.
     */
    public void sync()
            throws IOException
    {
        file.sync();
    }

    /**
     * Makes all records durable, and gives a created log its name. After a crash, the name refers to the complete old
     * or to the complete new log.
     */
    public void publish(StateDirectory state, String name)
            throws IOException
    {
        file.sync();
        disk.rename(path, state.path().resolve(name));
        disk.syncDirectory(state.path());
    }

    /**
     * Closes and deletes a created log that was not published.
     */
    public void discard()
            throws IOException
    {
        try {
            file.close();
        }
        finally {
            disk.delete(path);
        }
    }

    /**
     * Returns the size of the file in bytes.
     */
    public long size()
    {
        return size;
    }

    @Override
    public void close()
            throws IOException
    {
        file.close();
    }

    private ByteBuffer buffer(int bytes)
    {
        if (buffer.capacity() < bytes) {
            buffer = directBuffer(Math.max(bytes, 2 * buffer.capacity()));
        }
        return buffer.clear();
    }

    private static ByteBuffer directBuffer(int bytes)
    {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static int checksum(ByteBuffer body)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(body.duplicate());
        return (int) checksum.getValue();
    }
}
