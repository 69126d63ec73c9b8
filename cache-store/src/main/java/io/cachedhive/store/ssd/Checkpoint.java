package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.protocol.wire.WireWriter;
import io.cachedhive.store.disk.DiskFile;
import io.cachedhive.store.encryption.DataCipher;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.zip.CRC32C;

import static java.util.Objects.requireNonNull;

/**
 * A complete image of a directory's index: a {@link HeaderPage}, then chunks.
 *
 * <pre>
 *   chunk    0 type                       4 length of the body    8 number of the checkpoint
 *           16 number of the chunk       20 CRC32C of the 20 bytes before and of the body
 *           24 body
 * </pre>
 *
 * <p>There are two files of fixed size, written in turn, so that the other one is always complete. (Renaming a new file
 * would allocate and free space for a third file each time.) The writer first zeroes the header, and writes it after a
 * sync of the chunks. A crash in between leaves no checkpoint in that file, rather than a damaged one.
 *
 * <p>The index may change while a checkpoint is written, because the journal has all changes since {@code startLsn}.
 */
final class Checkpoint
{
    private static final long MAGIC = 0x54_4E_49_4F_50_56_48_43L; // "CHVPOINT"
    private static final int CHUNK_HEADER_BYTES = 24;
    private static final int CHUNK_CHECKSUM_OFFSET = 20;

    static final int MAX_CHUNK_BODY_BYTES = 256 << 10;
    private static final int MAX_CHUNK_BYTES = CHUNK_HEADER_BYTES + MAX_CHUNK_BODY_BYTES + DataCipher.OVERHEAD_BYTES;

    private Checkpoint() {}

    /**
     * @param version of the format
     * @param startLsn start of the journal replay
     * @param clean whether the store was closed with this checkpoint, so that nothing follows it
     * @param filesChunk number of the first chunk with files; the chunks with slabs and blocks precede it
     * @param filesOffset start of that chunk, from the end of the header
     */
    record Header(
            int version,
            Digest128 storeId,
            long number,
            long run,
            long startLsn,
            boolean clean,
            int chunkCount,
            long contentBytes,
            long blocks,
            long files,
            int filesChunk,
            long filesOffset)
    {
        Header
        {
            requireNonNull(storeId, "storeId is null");
            if (number < 0 || run < 0 || startLsn < 0 || startLsn > Journal.MAX_LSN || chunkCount < 0 || contentBytes < 0 || blocks < 0 || files < 0) {
                throw new IllegalArgumentException("checkpoint has a negative number, or one that is too high");
            }
            if (filesChunk < 0 || filesChunk > chunkCount || filesOffset < 0 || filesOffset > contentBytes) {
                throw new IllegalArgumentException("checkpoint has its files where nothing is");
            }
        }
    }

    record ReadHeader(HeaderPage.Status status, Optional<Header> header)
    {
        ReadHeader
        {
            requireNonNull(status, "status is null");
            requireNonNull(header, "header is null");
        }
    }

    /**
     * @param format versions to accept
     */
    static ReadHeader readHeader(DiskFile file, SsdFormat format)
            throws IOException
    {
        ByteBuffer page = ByteBuffer.allocateDirect(HeaderPage.BYTES);
        file.read(0, page);
        HeaderPage.Decoded decoded = HeaderPage.decode(page.flip(), MAGIC, format.oldest(), format.newest());
        if (decoded.body().isEmpty()) {
            return new ReadHeader(decoded.status(), Optional.empty());
        }
        try {
            WireReader reader = decoded.body().get();
            Header header = new Header(
                    decoded.version(),
                    new Digest128(reader.getLong(), reader.getLong()),
                    reader.getLong(),
                    reader.getLong(),
                    reader.getLong(),
                    reader.getBoolean(),
                    reader.getInt(),
                    reader.getLong(),
                    reader.getLong(),
                    reader.getLong(),
                    reader.getInt(),
                    reader.getLong());
            reader.expectEnd();
            return new ReadHeader(HeaderPage.Status.VALID, Optional.of(header));
        }
        catch (WireException | IllegalArgumentException e) {
            return new ReadHeader(HeaderPage.Status.CORRUPT, Optional.empty());
        }
    }

    interface ChunkReader
    {
        /**
         * @throws WireException if the body is not valid
         */
        void read(int type, WireReader body)
                throws IOException;
    }

    /**
     * @throws WireException if the checkpoint is damaged; the caller discards the chunks read so far
     */
    static void read(DiskFile file, Header header, Optional<DataCipher> cipher, ChunkReader chunks)
            throws IOException
    {
        Reader.ofAll(file, header, cipher).readAll(chunks);
    }

    /**
     * The place of a chunk in the file of a checkpoint.
     */
    record ChunkPlace(int number, long position, long end) {}

    /**
     * Reads and verifies all or some chunks of a checkpoint.
     */
    static final class Reader
    {
        private final DiskFile file;
        private final Header header;
        private final Optional<DataCipher> cipher;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(2 * MAX_CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        private final int endNumber;
        private long end;
        // file position of the buffer's limit
        private long position;
        private int number;
        private ChunkPlace current = new ChunkPlace(0, 0, 0);

        private Reader(DiskFile file, Header header, Optional<DataCipher> cipher, int number, long offset, int endNumber, long endOffset)
        {
            this.file = requireNonNull(file, "file is null");
            this.header = requireNonNull(header, "header is null");
            this.cipher = requireNonNull(cipher, "cipher is null");
            this.number = number;
            this.position = HeaderPage.BYTES + offset;
            this.endNumber = endNumber;
            this.end = HeaderPage.BYTES + endOffset;
            buffer.limit(0);
        }

        static Reader ofAll(DiskFile file, Header header, Optional<DataCipher> cipher)
        {
            return new Reader(file, header, cipher, 0, 0, header.chunkCount(), header.contentBytes());
        }

        /**
         * Returns a reader of the chunks with slabs and blocks.
         */
        static Reader ofBlocks(DiskFile file, Header header, Optional<DataCipher> cipher)
        {
            return new Reader(file, header, cipher, 0, 0, header.filesChunk(), header.filesOffset());
        }

        /**
         * Returns a reader of the chunks with files.
         */
        static Reader ofFiles(DiskFile file, Header header, Optional<DataCipher> cipher)
        {
            return new Reader(file, header, cipher, header.filesChunk(), header.filesOffset(), header.chunkCount(), header.contentBytes());
        }

        /**
         * @return false after the last chunk
         * @throws WireException if the chunk is damaged
         */
        boolean next(ChunkReader chunks)
                throws IOException
        {
            if (number == endNumber) {
                if (position - buffer.remaining() != end) {
                    throw new WireException("a checkpoint has more than its chunks");
                }
                return false;
            }
            readChunk(chunks);
            return true;
        }

        /**
         * Reads the chunk at a place that an earlier reader passed. Do not call {@link #next} afterwards.
         *
         * @throws WireException if the chunk is damaged
         */
        void read(ChunkPlace place, ChunkReader chunks)
                throws IOException
        {
            number = place.number();
            position = place.position();
            end = place.end();
            buffer.clear().limit(0);
            readChunk(chunks);
        }

        /**
         * Returns the place of the chunk being read.
         */
        ChunkPlace current()
        {
            return current;
        }

        private void readChunk(ChunkReader chunks)
                throws IOException
        {
            long chunkPosition = position - buffer.remaining();
            refill(CHUNK_HEADER_BYTES);
            int start = buffer.position();
            int type = buffer.getInt(start);
            int length = buffer.getInt(start + 4);
            if (length < 0 || length > MAX_CHUNK_BYTES - CHUNK_HEADER_BYTES) {
                throw new WireException("chunk %s of a checkpoint has a body of %s bytes".formatted(number, length));
            }
            refill(CHUNK_HEADER_BYTES + length);
            start = buffer.position();
            if (buffer.getLong(start + 8) != header.number()
                    || buffer.getInt(start + 16) != number
                    || buffer.getInt(start + CHUNK_CHECKSUM_OFFSET) != checksum(buffer, start, length)) {
                throw new WireException("chunk %s of a checkpoint does not verify".formatted(number));
            }
            current = new ChunkPlace(number, chunkPosition, chunkPosition + CHUNK_HEADER_BYTES + length);
            chunks.read(type, new WireReader(body(type, start, length)));
            buffer.position(start + CHUNK_HEADER_BYTES + length);
            number++;
        }

        private ByteBuffer body(int type, int start, int length)
                throws IOException
        {
            if (cipher.isEmpty()) {
                return buffer.slice(start + CHUNK_HEADER_BYTES, length);
            }
            byte[] sealed = new byte[length];
            buffer.get(start + CHUNK_HEADER_BYTES, sealed);
            try {
                return ByteBuffer.wrap(cipher.get().open(associatedData(header.storeId(), header.number(), number, type), sealed));
            }
            catch (DataCipher.UnauthenticException e) {
                throw new WireException("chunk %s of a checkpoint cannot be decrypted: %s".formatted(number, e.getMessage()));
            }
        }

        /**
         * @throws WireException if the checkpoint is damaged; the caller discards the chunks read so far
         */
        void readAll(ChunkReader chunks)
                throws IOException
        {
            while (next(chunks)) {
                // until the end
            }
        }

        private void refill(int wanted)
                throws IOException
        {
            if (buffer.remaining() >= wanted) {
                return;
            }
            buffer.compact();
            buffer.limit((int) Math.min(buffer.capacity(), buffer.position() + Math.max(0, end - position)));
            int read = file.read(position, buffer);
            buffer.flip();
            if (buffer.remaining() < wanted) {
                throw new WireException("a checkpoint is truncated");
            }
            position += read;
        }
    }

    /**
     * Returns the place of an encrypted chunk.
     */
    private static byte[] associatedData(Digest128 storeId, long number, int chunk, int type)
    {
        return ByteBuffer.allocate(Long.BYTES * 4 + Integer.BYTES * 2)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(MAGIC)
                .putLong(storeId.high())
                .putLong(storeId.low())
                .putLong(number)
                .putInt(chunk)
                .putInt(type)
                .array();
    }

    private static int checksum(ByteBuffer buffer, int start, int length)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(buffer.slice(start, CHUNK_CHECKSUM_OFFSET));
        checksum.update(buffer.slice(start + CHUNK_HEADER_BYTES, length));
        return (int) checksum.getValue();
    }

    /**
     * Writes a checkpoint.
     */
    static final class Writer
    {
        private final DiskFile file;
        private final int version;
        private final long maxBytes;
        private final Digest128 storeId;
        private final long number;
        private final Optional<DataCipher> cipher;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(4 * MAX_CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        private long position = HeaderPage.BYTES;
        private int chunkCount;
        private int filesChunk;
        private long filesOffset;

        /**
         * Invalidates the file's old checkpoint.
         *
         * @param version of the format
         * @param cipher encrypts the chunks
         */
        Writer(DiskFile file, int version, long maxBytes, Digest128 storeId, long number, Optional<DataCipher> cipher)
                throws IOException
        {
            this.file = requireNonNull(file, "file is null");
            this.version = version;
            this.maxBytes = maxBytes;
            this.storeId = requireNonNull(storeId, "storeId is null");
            this.number = number;
            this.cipher = requireNonNull(cipher, "cipher is null");
            file.write(0, ByteBuffer.allocateDirect(HeaderPage.BYTES));
            file.sync();
        }

        void write(int type, WireWriter body)
                throws IOException
        {
            if (body.length() > MAX_CHUNK_BODY_BYTES) {
                throw new IllegalArgumentException("chunk is too long: " + body.length());
            }
            ByteBuffer written = body.finish();
            if (cipher.isPresent()) {
                byte[] plain = new byte[written.remaining()];
                written.get(plain);
                written = ByteBuffer.wrap(cipher.get().seal(associatedData(storeId, number, chunkCount, type), plain));
            }
            int length = written.remaining();
            if (buffer.remaining() < CHUNK_HEADER_BYTES + length) {
                drain();
            }
            int start = buffer.position();
            buffer.putInt(type).putInt(length).putLong(number).putInt(chunkCount).putInt(0).put(written);
            buffer.putInt(start + CHUNK_CHECKSUM_OFFSET, checksum(buffer, start, length));
            chunkCount++;
        }

        /**
         * Marks that all further chunks have files.
         */
        void beginFiles()
        {
            filesChunk = chunkCount;
            filesOffset = position + buffer.position() - HeaderPage.BYTES;
        }

        private void drain()
                throws IOException
        {
            buffer.flip();
            if (position + buffer.remaining() > maxBytes) {
                throw new IOException("a checkpoint is longer than its file of %s bytes".formatted(maxBytes));
            }
            int length = buffer.remaining();
            file.write(position, buffer);
            position += length;
            buffer.clear();
        }

        /**
         * Makes the checkpoint valid and durable.
         */
        void finish(long run, long startLsn, boolean clean, long blocks, long files)
                throws IOException
        {
            drain();
            file.sync();
            WireWriter body = new WireWriter(128)
                    .putLong(storeId.high())
                    .putLong(storeId.low())
                    .putLong(number)
                    .putLong(run)
                    .putLong(startLsn)
                    .putBoolean(clean)
                    .putInt(chunkCount)
                    .putLong(position - HeaderPage.BYTES)
                    .putLong(blocks)
                    .putLong(files)
                    .putInt(filesChunk)
                    .putLong(filesOffset);
            file.write(0, HeaderPage.encode(MAGIC, version, body));
            file.sync();
        }
    }
}
