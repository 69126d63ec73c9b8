package io.cachedhive.store.file;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.protocol.wire.WireWriter;
import io.cachedhive.store.column.ByteColumn;
import io.cachedhive.store.column.IntColumn;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

import static java.util.Objects.requireNonNull;

/**
 * The binary image of files of a {@link FileTable}. It copies the table's own encoding without conversion, because a
 * store may have millions of files. An image has each shared text once, before the first file that uses it.
 *
 * <pre>
 *   text    int number    packed text
 *   file    int ordinal    id (16)    digest of the ETag (8)    boolean provisional    record with text numbers
 * </pre>
 */
public final class FileImage
{
    // no image is large enough for more
    private static final int MAX_TEXTS = 1 << 27;

    private FileImage() {}

    /**
     * Writes the files of a table. Guarded by the store's lock, like the table. From the first file to the last,
     * {@link FileTable#holdOrdinals} has to keep the numbers valid.
     */
    public static final class Writer
    {
        private final FileTable table;
        private final ByteColumn written = new ByteColumn();

        public Writer(FileTable table)
        {
            this.table = requireNonNull(table, "table is null");
        }

        /**
         * @param texts receives the texts that the image does not have yet
         * @param files receives the file
         */
        public void write(StoredFile file, WireWriter texts, WireWriter files)
        {
            int ordinal = file.ordinal();
            byte[] record = table.record(ordinal);
            ByteBuffer numbers = ByteBuffer.wrap(record);
            RecordWriter.getNumber(numbers);
            RecordWriter.getNumber(numbers);
            for (int i = 0; i < FileTable.TEXTS; i++) {
                int number = (int) RecordWriter.getNumber(numbers);
                if (written.find(number) == 0) {
                    written.set(number, 1);
                    texts.putInt(number).putBytes(table.compactString(number));
                }
            }
            Digest128 id = file.id().digest();
            files.putInt(ordinal)
                    .putLong(id.high())
                    .putLong(id.low())
                    .putLong(file.etagDigest())
                    .putBoolean(table.isProvisional(ordinal))
                    .putBytes(record);
        }
    }

    /**
     * Reads files one at a time and adds them to a table on request. Validates all input. Used by one thread at a time.
     */
    public static final class Reader
    {
        private final FileTable table;
        // table number of each text of the image, plus 1
        private final IntColumn numbers = new IntColumn();
        private final IntColumn used = new IntColumn();
        private final RecordWriter record = new RecordWriter();
        // UTF-8 length of each text in the table, plus 1
        private final IntColumn textLengths = new IntColumn();
        // texts of the current record
        private final int[] textNumbers = new int[FileTable.TEXTS];
        private int usedCount;
        // the last origin that was validated
        private int knownOrigin = -1;

        private int ordinal;
        private FileVersionId id;
        private long etagDigest;
        private boolean provisional;
        private long length;
        private int textBytes;
        // meaningless; keeps the prefetching reads from being optimized away
        @SuppressWarnings("UnusedVariable")
        private int touched;

        public Reader(FileTable table)
        {
            this.table = requireNonNull(table, "table is null");
        }

        /**
         * @throws WireException if a text is invalid
         */
        public void readTexts(WireReader texts)
                throws WireException
        {
            while (texts.remaining() > 0) {
                int number = texts.getInt();
                ByteBuffer packed = ByteBuffer.wrap(texts.getBytes());
                if (number < 0 || number >= MAX_TEXTS || numbers.find(number) != 0 || !CompactString.isValid(packed)) {
                    throw new WireException("text %s of files is not valid".formatted(number));
                }
                int own = table.useText(packed);
                numbers.set(number, own + 1);
                used.set(usedCount, own);
                usedCount++;
            }
        }

        /**
         * Prefetches into the processor's cache the memory that {@link #add} will read.
         *
         * @param files the next files, not validated here
         * @throws WireException if they are truncated
         */
        public void touch(WireReader files)
                throws WireException
        {
            while (files.remaining() > 0) {
                files.getInt();
                files.getLong();
                touched += table.touch(files.getLong());
                files.getLong();
                files.getBoolean();
                files.skipBytes();
            }
        }

        /**
         * Reads the next file.
         *
         * @throws WireException if it is invalid
         */
        public void read(WireReader files)
                throws WireException
        {
            ordinal = files.getInt();
            id = new FileVersionId(new Digest128(files.getLong(), files.getLong()));
            etagDigest = files.getLong();
            provisional = files.getBoolean();
            ByteBuffer source = ByteBuffer.wrap(files.getBytes());
            try {
                read(source);
            }
            catch (BufferUnderflowException | IndexOutOfBoundsException e) {
                throw new WireException("the record of file %s is truncated".formatted(id));
            }
        }

        private void read(ByteBuffer source)
                throws WireException
        {
            length = RecordWriter.getNumber(source);
            if (length < 0) {
                throw new WireException("the length of file %s is negative".formatted(id));
            }
            record.clear();
            record.putNumber(length);
            record.putNumber(RecordWriter.getNumber(source));
            for (int i = 0; i < FileTable.TEXTS; i++) {
                long number = RecordWriter.getNumber(source);
                int own = number < 0 || number >= MAX_TEXTS ? 0 : numbers.find((int) number);
                if (own == 0) {
                    throw new WireException("file %s has an unknown text".formatted(id));
                }
                textNumbers[i] = own - 1;
                record.putNumber(own - 1L);
            }
            if (textNumbers[0] != knownOrigin) {
                if (!CompactString.isDigest(ByteBuffer.wrap(table.compactString(textNumbers[0])))) {
                    throw new WireException("file %s has no origin".formatted(id));
                }
                knownOrigin = textNumbers[0];
            }
            int rest = source.position();
            // table, directory, ETag, name
            textBytes = textLength(textNumbers[1]) + textLength(textNumbers[2]) + FileTable.getEtag(source).map(this::check).orElse(0) + check(RecordWriter.getBytes(source));
            if (source.hasRemaining()) {
                throw new IndexOutOfBoundsException("a record is longer than what is in it");
            }
            record.putRest(source.position(rest));
        }

        private int textLength(int number)
        {
            int known = textLengths.find(number);
            if (known == 0) {
                known = table.utf8Length(number) + 1;
                textLengths.set(number, known);
            }
            return known - 1;
        }

        private int check(ByteBuffer packed)
        {
            if (!CompactString.isValid(packed)) {
                throw new IndexOutOfBoundsException("a text is cut off");
            }
            return CompactString.utf8Length(packed);
        }

        /**
         * Returns the ordinal in the image.
         */
        public int ordinal()
        {
            return ordinal;
        }

        public FileVersionId id()
        {
            return id;
        }

        public long etagDigest()
        {
            return etagDigest;
        }

        public boolean isProvisional()
        {
            return provisional;
        }

        /**
         * Returns the length of the file in bytes.
         */
        public long length()
        {
            return length;
        }

        /**
         * Returns the length of the file's texts, see {@link FileTable#textBytes(int)}.
         */
        public int textBytes()
        {
            return textBytes;
        }

        /**
         * Adds the file to the table as provisional.
         */
        public StoredFile add()
        {
            return table.add(id, etagDigest, true, record.bytes(), record.length(), textNumbers);
        }

        /**
         * Ends the reading and releases the texts without a file.
         */
        public void finish()
        {
            while (usedCount > 0) {
                usedCount--;
                table.releaseText(used.get(usedCount));
            }
        }
    }
}
