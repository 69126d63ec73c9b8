package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.FileVersion;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Which files a worker has something of.
 */
public sealed interface ListingMessage
        extends Message
{
    /**
     * Asks which files of the connection's origins the worker has something of: those whose ids begin with these bits. So an answer can be made as small as it should be, and the
     * answers of several workers are of the same files. Answered by {@link Files}.
     *
     * @param bits how many of the prefix count, from its highest
     */
    record GetFiles(int bits, long prefix)
            implements ListingMessage
    {
        public static final int MAX_BITS = 48;

        public GetFiles
        {
            if (bits < 0 || bits > MAX_BITS) {
                throw new IllegalArgumentException("there are 0 to %s bits, not %s".formatted(MAX_BITS, bits));
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.GET_FILES;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(bits).putLong(prefix);
        }

        static GetFiles read(WireReader reader)
                throws WireException
        {
            return new GetFiles(reader.getInt(), reader.getLong());
        }
    }

    /**
     * @param complete false if there are too many, so that none is told: ask with more bits
     */
    record Files(boolean complete, List<ListedFile> files)
            implements ListingMessage
    {
        public static final int MAX_FILES = 512;

        public Files
        {
            files = List.copyOf(files);
        }

        @Override
        public MessageType type()
        {
            return MessageType.FILES;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putBoolean(complete).putList(files, (out, file) -> {
                out.putFile(file.file()).putString(file.table())
                        .putLong(file.ramBytes())
                        .putLong(file.ssdBytes())
                        .putLong(file.cachedBytes())
                        .putByte(file.blockClass())
                        .putLong(file.nextExpirySeconds());
            });
        }

        static Files read(WireReader reader)
                throws WireException
        {
            return new Files(
                    reader.getBoolean(),
                    reader.getList(in -> new ListedFile(in.getFile(), in.getString(), in.getLong(), in.getLong(), in.getLong(), in.getByte(), in.getLong())));
        }
    }

    /**
     * How much a worker has of a file version.
     *
     * @param table {@code schema.table} of the read that filled it first
     * @param ramBytes of its blocks in RAM
     * @param ssdBytes of its blocks on SSD
     * @param cachedBytes of its blocks in either
     * @param blockClass the highest of its blocks, from 0: guest, normal, high, pinned
     * @param nextExpirySeconds since the epoch, when the first of its blocks expires; 2^32 - 1 if none does
     */
    record ListedFile(FileVersion file, String table, long ramBytes, long ssdBytes, long cachedBytes, int blockClass, long nextExpirySeconds)
    {
        public ListedFile
        {
            requireNonNull(file, "file is null");
            requireNonNull(table, "table is null");
        }
    }
}
