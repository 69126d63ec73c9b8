package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.protocol.wire.WireWriter;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.FileMetadata;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A change of a directory's contents. Records are idempotent: replaying one twice, or on a state that has it, is
 * harmless.
 */
sealed interface JournalEntry
{
    /**
     * Maximum length of a file on SSD: far above the limit of any object store, and small enough to count its blocks in
     * an int.
     */
    long MAX_FILE_BYTES = 1L << 46;

    byte[] encode();

    /**
     * The first block of a file was added to the directory.
     */
    record FileAdded(FileVersionId id, FileMetadata metadata)
            implements JournalEntry
    {
        @Override
        public byte[] encode()
        {
            WireWriter writer = new WireWriter(256).putByte(1);
            writeFile(writer, id, metadata);
            return bytes(writer);
        }
    }

    record FileConfirmed(FileVersionId id)
            implements JournalEntry
    {
        @Override
        public byte[] encode()
        {
            WireWriter writer = new WireWriter(17).putByte(2);
            writeId(writer, id);
            return bytes(writer);
        }
    }

    /**
     * A file and all its blocks were dropped.
     */
    record FileDropped(FileVersionId id)
            implements JournalEntry
    {
        @Override
        public byte[] encode()
        {
            WireWriter writer = new WireWriter(17).putByte(3);
            writeId(writer, id);
            return bytes(writer);
        }
    }

    /**
     * A block was written. If its slab changed its size class, all earlier blocks of the slab are gone.
     */
    record BlockAdded(Digest128 digest, FileVersionId file, int slab, int sizeClass, int extent, long sequence, int length, BlockTerms terms)
            implements JournalEntry
    {
        @Override
        public byte[] encode()
        {
            WireWriter writer = new WireWriter(64).putByte(4).putLong(digest.high()).putLong(digest.low());
            writeId(writer, file);
            writer.putInt(slab).putByte(sizeClass).putInt(extent).putLong(sequence).putInt(length);
            writer.putByte(terms.blockClass().ordinal()).putInt((int) terms.expirySeconds());
            return bytes(writer);
        }
    }

    record BlockRemoved(Digest128 digest, long sequence)
            implements JournalEntry
    {
        @Override
        public byte[] encode()
        {
            return bytes(new WireWriter(25).putByte(5).putLong(digest.high()).putLong(digest.low()).putLong(sequence));
        }
    }

    static JournalEntry decode(byte[] bytes)
            throws WireException
    {
        WireReader reader = new WireReader(ByteBuffer.wrap(bytes));
        try {
            byte type = reader.getByte();
            JournalEntry entry = switch (type) {
                case 1 -> {
                    FileVersionId id = readId(reader);
                    yield new FileAdded(id, readFile(reader));
                }
                case 2 -> new FileConfirmed(readId(reader));
                case 3 -> new FileDropped(readId(reader));
                case 4 -> new BlockAdded(
                        new Digest128(reader.getLong(), reader.getLong()),
                        readId(reader),
                        reader.getInt(),
                        reader.getByte(),
                        reader.getInt(),
                        reader.getLong(),
                        reader.getInt(),
                        readTerms(reader));
                case 5 -> new BlockRemoved(new Digest128(reader.getLong(), reader.getLong()), reader.getLong());
                default -> throw new WireException("unknown type of a journal record: " + type);
            };
            reader.expectEnd();
            return entry;
        }
        catch (IllegalArgumentException e) {
            throw new WireException("journal record is not valid: " + e.getMessage());
        }
    }

    static void writeFile(WireWriter writer, FileVersionId id, FileMetadata metadata)
    {
        writeId(writer, id);
        FileVersion version = metadata.version();
        writer.putLong(version.origin().digest().high())
                .putLong(version.origin().digest().low())
                .putLong(version.length())
                .putLong(version.lastModifiedMillis())
                .putBoolean(metadata.provisional())
                .putOptionalString(metadata.etag())
                .putString(metadata.table())
                .putString(version.location());
    }

    /**
     * Reads a file after its id.
     */
    static FileMetadata readFile(WireReader reader)
            throws WireException
    {
        OriginId origin = new OriginId(new Digest128(reader.getLong(), reader.getLong()));
        long length = reader.getLong();
        if (length > MAX_FILE_BYTES) {
            throw new WireException("a file has %s bytes".formatted(length));
        }
        long lastModifiedMillis = reader.getLong();
        boolean provisional = reader.getBoolean();
        Optional<String> etag = reader.getOptionalString();
        String table = reader.getString();
        String location = reader.getString();
        return new FileMetadata(new FileVersion(origin, location, length, lastModifiedMillis), etag, provisional, table);
    }

    static BlockTerms readTerms(WireReader reader)
            throws WireException
    {
        int blockClass = reader.getByte();
        if (blockClass < 0 || blockClass >= BlockClass.values().length) {
            throw new WireException("unknown class of a block: " + blockClass);
        }
        return new BlockTerms(BlockClass.values()[blockClass], Integer.toUnsignedLong(reader.getInt()));
    }

    static void writeId(WireWriter writer, FileVersionId id)
    {
        writer.putLong(id.digest().high()).putLong(id.digest().low());
    }

    static FileVersionId readId(WireReader reader)
            throws WireException
    {
        return new FileVersionId(new Digest128(reader.getLong(), reader.getLong()));
    }

    private static byte[] bytes(WireWriter writer)
    {
        byte[] bytes = new byte[writer.length()];
        writer.finish().get(bytes);
        return bytes;
    }
}
