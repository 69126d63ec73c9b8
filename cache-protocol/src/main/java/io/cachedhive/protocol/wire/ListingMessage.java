package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.FileVersion;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Messages that list the cached files of a worker.
 */
public sealed interface ListingMessage
        extends Message
{
    /**
     * Asks for the cached files of the connection's origins whose ids begin with these bits. The prefix bounds the size
     * of an answer and lets the answers of several workers cover the same files. Answered by {@link Files}.
     *
     * @param bits the number of bits of the prefix that count, from the highest
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
     * Lists cached files.
     *
     * @param complete false if there are too many files; the list is empty then: ask with more bits
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
     * The usage of a file version on a worker.
     *
     * @param table {@code schema.table} of the read that first filled the file
     * @param ramBytes bytes of its blocks in RAM
     * @param ssdBytes bytes of its blocks on SSD
     * @param cachedBytes bytes of its blocks in either tier
     * @param blockClass the highest class of its blocks, from 0: guest, normal, high, pinned
     * @param nextExpirySeconds when its first block expires, in seconds since the Unix epoch; 2^32 - 1 if none expires
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
